import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Line } from '../../../src/core/lines/line.js'
import type { Inbound } from '../../../src/drivers/inbound.js'
import type { InboundDoor } from '../../../src/services/messages/inbound/inbound.js'
import { findLineByNumber } from '../../../src/storage/lines/lines.js'
import { openDoor } from '../../support/drivers/door.js'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, type World } from '../../support/world.js'

/**
 * Faults that users of other systems reported, replayed here. Each name is the report's. The
 * rows are those that the reporters saw; the end is always the same: what a person said is there once, and what
 * we said ourselves is not.
 */
describe.each(ENGINES)('reported cases on %s', (engine) => {
  let world: World
  let line: Line
  let door: InboundDoor
  let n = 0
  beforeAll(async () => {
    world = await createWorld(engine)
    line = (await findLineByNumber(world.app.ctx.db, 'live', LINE))!
    await world.setLine(LINE, { config: { latency_ms: 0 } })
    door = openDoor(world.app.ctx, line)
  })
  afterAll(() => world.close())

  const fresh = (text: string) => `${text} (${++n})`
  const row = (fields: Partial<Inbound>): Inbound => ({
    providerId: `ROW-${++n}`,
    from: ADA,
    service: 'iMessage',
    content: '',
    sentAt: world.app.ctx.clock.now(),
    ...fields,
  })
  /** Sends and waits until it is on the phone; the carrier's id of it. */
  const say = async (content: string, number = ADA) => {
    const { message_handle } = await world.send({ content, number })
    await world.advance(1000)
    const found = await world.app.ctx.db.one<{ provider_id: string }>(
      `select a.provider_id from attempts a join messages m on m.id = a.message_id where m.handle = $1`,
      [message_handle],
    )
    return found!.provider_id
  }
  const inbound = async (number = ADA): Promise<string[]> => {
    const path = `/api/v2/messages?is_outbound=false&limit=100&number=${encodeURIComponent(number)}`
    return (await world.get(path)).body.data.map((one: Json) => one.content).reverse()
  }
  const since = async (work: () => Promise<void>, number = ADA) => {
    const before = (await inbound(number)).length
    await work()
    await world.settle()
    return (await inbound(number)).slice(before)
  }

  describe('echoes', () => {
    it('openclaw #59363: a self-addressed route brings our text back with bytes before it', async () => {
      const own = `+1202555${7100 + ++n}`
      await world.addAccount(`self-${n}@example.com`, own)
      const text = fresh('Here is the plan')
      await say(text, own)
      const came = await since(async () => {
        await door.receive(row({ from: own, content: `\ufffd\ufffd\u0000${text}` }))
      }, own)
      expect(came).toEqual([])
    })

    it('openclaw #32166: two rows of one message to oneself, two seconds apart, only one marked', async () => {
      const own = `+1202555${7100 + ++n}`
      await world.addAccount(`self-${n}@example.com`, own)
      const text = fresh('Do you want to report this?')
      await say(text, own)
      const came = await since(async () => {
        await door.receive(row({ from: own, content: text, fromMe: true }))
        await world.advance(2000)
        await door.receive(row({ from: own, content: text }))
      }, own)
      expect(came).toEqual([])
    })

    it.each(['#63405', '#12873'])('openclaw %s: rows marked as ours are read as inbound', async () => {
      const text = fresh('The reply')
      await say(text)
      expect(await since(() => door.receive(row({ content: text, fromMe: true })))).toEqual([])
    })

    it('openclaw #65420: the mark is missing in the live feed, and our books decide', async () => {
      const text = fresh('No mark on this one')
      await say(text)
      const came = await since(async () => {
        await door.receive(row({ content: text, mayBeEcho: true }))
        await door.receive(row({ content: 'Thanks!', mayBeEcho: true }))
      })
      expect(came).toEqual(['Thanks!'])
    })

    it.each(['\ufffd\ufffd', '\ufffd=', '\ufffdC', '\ufffd7', '\u0093b\u0002'])(
      'openclaw #61705: our text comes back behind the bytes %j',
      async (bytes) => {
        const text = fresh('Confirmed, full access')
        await say(text)
        const came = await since(async () => {
          await door.receive(row({ content: `${bytes}${text}`, mayBeEcho: true }))
          // Somebody who really says more than we did is heard.
          await door.receive(row({ content: `OK: ${text}`, mayBeEcho: true }))
        })
        expect(came).toEqual([`OK: ${text}`])
      },
    )

    it('openclaw #135704: a mirror under another id, as a reply to the message it repeats', async () => {
      const text = fresh('Shall I book it?')
      const replyTo = { providerId: await say(text) }
      const came = await since(async () => {
        await door.receive(row({ content: text, replyTo, mayBeEcho: true }))
        // A person's replies: other words, and then the same ones.
        await door.receive(row({ content: 'Yes please, book', replyTo, mayBeEcho: true }))
        await door.receive(row({ content: text, replyTo, mayBeEcho: true }))
      })
      expect(came).toEqual(['Yes please, book', text])
    })

    it('openclaw #135704: a carrier that knows whose it is, and somebody who repeats us in a reply, are believed', async () => {
      const text = fresh('Noted')
      const replyTo = { providerId: await say(text) }
      expect(await since(() => door.receive(row({ content: text, replyTo })))).toEqual([text])
      const theirs = () => door.receive(row({ from: BOB, content: text, replyTo, mayBeEcho: true }))
      expect(await since(theirs, BOB)).toEqual([text])
    })

    it('openclaw #25897: an agent that answers whatever comes in answers the person once, not itself', async () => {
      let heard = await since(() => door.receive(row({ content: fresh('Think about it') })))
      let answers = 0
      while (heard.length > 0 && answers < 20) {
        const thought = fresh('Reasoning: step')
        answers++
        await say(thought)
        heard = await since(() => door.receive(row({ content: thought, mayBeEcho: true })))
      }
      expect(answers).toBe(1)
    })
  })

  describe('duplicates', () => {
    it('textbee #159: one text, two ids, the same second of sending', async () => {
      const sentAt = world.app.ctx.clock.now() - 5000
      const came = await since(async () => {
        for (const content of ['Test 12', 'Test 13', 'Test 12', 'Test 13'])
          await door.receive(row({ content, sentAt, service: 'SMS', unstableId: true }))
      })
      expect(came).toEqual(['Test 12', 'Test 13'])
    })

    it('hermes #44863: one person under three spellings of a chat is one conversation', async () => {
      const spellings = [BOB, ` ${BOB.slice(1)}`, BOB.replace('+1202555', '+1 (202) 555-')]
      for (const number of spellings) await world.send({ number, content: fresh('Hello') })
      await world.settle()
      const rows = await world.app.ctx.db.all(
        'select distinct contact from messages where is_outbound = 1 and contact like $1',
        ['%2025550102%'],
      )
      expect(rows).toEqual([{ contact: BOB }])
    })
  })

  describe('bursts and links', () => {
    it.each(['openclaw #69258', 'zeroclaw #4784', 'hermes #2735'])(
      '%s: texts typed in a row are each there once, in their order',
      async () => {
        const texts = ['Hi', 'can you', 'look at this', 'please', 'please']
        const came = await since(async () => {
          await Promise.all(texts.map((content) => door.receive(row({ content }))))
        })
        expect(came).toEqual(texts)
      },
    )

    it('openclaw #1981: the preview of a link is no message beside the text that has the link', async () => {
      const url = `https://example.com/${++n}`
      const came = await since(async () => {
        await door.receive(row({ content: `Dump ${url}` }))
        await world.advance(900)
        await door.receive(row({ content: url, linkPreview: true }))
      })
      expect(came).toEqual([`Dump ${url}`])
    })

    it('openclaw #1981: where the text came without the link, the preview is what brings it', async () => {
      const url = `https://example.com/${++n}`
      const came = await since(async () => {
        await door.receive(row({ content: 'Check this out' }))
        await door.receive(row({ content: url, linkPreview: true }))
        // Much later the same link is said again.
        await world.advance(31_000)
        await door.receive(row({ content: url, linkPreview: true }))
      })
      expect(came).toEqual(['Check this out', url, url])
    })

    it('mdk #502: photos of a burst are not dropped', async () => {
      const pictures = ['a', 'b'].map((name) => `https://example.com/${name}.jpg`)
      const before = (await world.get(`/api/v2/messages?is_outbound=false`)).body.pagination.total
      for (const mediaUrl of pictures) await door.receive(row({ mediaUrl }))
      await door.receive(row({ content: 'which one?' }))
      await world.settle()
      const after = (await world.get(`/api/v2/messages?is_outbound=false`)).body.pagination.total
      expect(after - before).toBe(3)
    })
  })

  describe('STOP', () => {
    const optedOut = async () =>
      (await world.get(`/api/v2/contacts/${encodeURIComponent(ADA)}`)).body.contact.opt_out as boolean
    const start = () => since(() => door.receive(row({ content: 'START' })))

    it('Spoke #1016: only the word alone; shouting it in a sentence is no opt-out', async () => {
      await since(() => door.receive(row({ content: 'Count me in! We have got to STOP this bill!!' })))
      expect(await optedOut()).toBe(false)
      await since(() => door.receive(row({ content: 'stop' })))
      expect(await optedOut()).toBe(true)
      await start()
    })

    it('learning-circles #593: "Stop. Thank you" is one', async () => {
      await since(() => door.receive(row({ content: 'Stop. Thank you ' })))
      expect(await optedOut()).toBe(true)
      await start()
      expect(await optedOut()).toBe(false)
    })

    it('Rock #7049: the confirmation reaches the phone although its number is out', async () => {
      const before = (await world.inbox(ADA)).length
      expect(await since(() => door.receive(row({ content: 'STOP' })))).toEqual(['STOP'])
      await world.advance(1000)
      const shown = (await world.inbox(ADA)).slice(before)
      expect(shown.map((one: Json) => one.content)).toEqual([
        'You are unsubscribed and will get no more messages from this number. Reply START to subscribe again.',
      ])
      expect((await world.send({ content: 'One more thing' })).status).toBe('ERROR')
      await start()
    })
  })
})
