import type { RequestListener } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Inbound } from '../../src/drivers/inbound.js'
import { withMedia } from '../../src/services/messages/inbound/media.js'
import { type FileServer, PNG, serve } from '../support/files.js'
import { createPuppet, type Puppet } from '../support/puppet.js'
import { eventually } from '../support/server.js'
import {
  ADA,
  BOB,
  CLEO,
  createWorld,
  credentials,
  DAN,
  ENGINES,
  EVE,
  type Json,
  SHARED_LINE,
  START,
  type World,
} from '../support/world.js'

const [LINE, OTHER, SHARED] = ['+12025550171', '+12025550172', '+12025550173']
const MINUTE = 60_000

describe.each(ENGINES)('what a driver gets of the program on %s', (engine) => {
  let world: World
  let puppet: Puppet
  let files: FileServer
  let answer: RequestListener
  const ids: Record<string, string> = {}
  beforeAll(async () => {
    puppet = createPuppet()
    files = await serve((request, reply) => answer(request, reply))
    world = await createWorld(engine, { drivers: [puppet], env: { TRUNKLINE_LEASE_MS: '2000' } })
    const shared = (await world.get('/admin/lines', 'admin')).body.data.find(
      (line: Json) => line.number === SHARED_LINE && line.world === 'live',
    )
    const [accountId] = shared.members
    const other = await world.addAccount('other@example.com', '+12025550179')
    for (const number of [LINE, OTHER, SHARED]) {
      const line = { account_id: accountId, number, driver: 'puppet' }
      const kind = number === SHARED ? { kind: 'shared' } : {}
      ids[number] = (await world.post('/admin/lines', { ...line, ...kind }, 'admin')).body.id
    }
    await world.post(`/admin/lines/${ids[SHARED]}/members`, { account_id: other.id }, 'admin')
    await world.settle()
    // PostgreSQL ends the session of a starved process; the lines are then taken with the next pass.
    for (const number of [LINE, OTHER, SHARED]) await eventually(async () => puppet.on(number), Boolean)
  })
  beforeEach(() => {
    puppet.acts = {}
  })
  afterAll(async () => {
    await world.close()
    await files.close()
  })

  const host = (number = LINE) => puppet.on(number).host
  const typed = async () =>
    (await world.events())
      .filter((event) => event.type === 'typing.changed')
      .map((event) => [event.subject, event.data.lineNumber, event.data.isTyping])

  describe('typing', () => {
    it('is told once, and again when it ends', async () => {
      await host().typing({ from: ADA, isTyping: false })
      expect(await typed()).toEqual([])
      for (const isTyping of [true, true, false, false]) await host().typing({ from: ADA, isTyping })
      expect(await typed()).toEqual([
        [ADA, LINE, true],
        [ADA, LINE, false],
      ])
      await world.advance(2 * MINUTE)
      expect(await typed()).toHaveLength(2)
    })

    it('ends by itself a minute after the last word of it', async () => {
      const before = (await typed()).length
      const since = async () => (await typed()).slice(before)
      await host().typing({ from: BOB, isTyping: true })
      await world.advance(0.9 * MINUTE)
      await host().typing({ from: BOB, isTyping: true })
      await world.advance(0.9 * MINUTE)
      expect(await since()).toEqual([[BOB, LINE, true]])
      await world.advance(0.2 * MINUTE)
      expect(await since()).toEqual([
        [BOB, LINE, true],
        [BOB, LINE, false],
      ])
    })

    it('on a shared line is told to whoever talks with that person, and a stranger to nobody', async () => {
      const before = (await typed()).length
      await host(SHARED).typing({ from: EVE, isTyping: true })
      expect(await typed()).toHaveLength(before)
      expect((await world.send({ from_number: SHARED, number: DAN })).status).toBe('QUEUED')
      await world.settle()
      await host(SHARED).typing({ from: DAN, isTyping: true })
      expect((await typed()).at(-1)).toEqual([DAN, SHARED, true])
    })
  })

  describe('the cursor', () => {
    it('is kept per line, through changes of the line and restarts', async () => {
      expect(await host().cursor.load()).toBeNull()
      await host().cursor.save('1')
      await host().cursor.save('{"row":2}')
      await host(OTHER).cursor.save('other')
      const { connects } = puppet
      await world.setLine(LINE, { config: { note: 'changed' } })
      await expect.poll(() => puppet.connects).toBeGreaterThan(connects)
      expect(await host().cursor.load()).toBe('{"row":2}')
      await world.restart()
      await expect.poll(() => host().cursor.load()).toBe('{"row":2}')
      expect(await host(OTHER).cursor.load()).toBe('other')
    })

    it('is the last one saved, although several saves are under way', async () => {
      for (let round = 0; round < 100; round++) {
        await Promise.all(['1', '2', '3', '{"row":2}'].map((value) => host().cursor.save(value)))
        expect(await host().cursor.load()).toBe('{"row":2}')
      }
    })

    it('is not moved by one who has lost the line', async () => {
      const late = host()
      const { connects } = puppet
      await world.app.ctx.db.run('update line_leases set epoch = epoch + 1 where line_id = $1', [ids[LINE]!])
      await late.cursor.save('late')
      expect(await late.cursor.load()).toBe('{"row":2}')
      // The process that holds the line now goes on.
      await expect.poll(() => puppet.connects).toBeGreaterThan(connects)
      await host().cursor.save('3')
      await late.cursor.save('late')
      expect(await host().cursor.load()).toBe('3')
    })

    it('goes with the line', async () => {
      const { host: last } = puppet.on(OTHER)
      await world.call('DELETE', `/admin/lines/${ids[OTHER]}`, { as: 'admin' })
      await world.settle()
      const left = () => world.app.ctx.db.all('select * from line_cursors where line_id = $1', [ids[OTHER]!])
      expect(await left()).toEqual([])
      await last.cursor.save('late')
      expect(await left()).toEqual([])
    })
  })

  describe('media', () => {
    const opened = async (url: string) => {
      const { body, ...rest } = await host().media(url)
      return { ...rest, bytes: await buffer(body) }
    }

    it('of ours is read where it lies, with its type', async () => {
      const form = new FormData()
      form.append('file', new Blob([PNG as Uint8Array<ArrayBuffer>]), 'x')
      const reply = await fetch(`${world.app.url()}/api/upload-file`, {
        method: 'POST',
        headers: credentials('live'),
        body: form,
      })
      const { media_url } = (await reply.json()) as Json
      expect(await opened(media_url)).toEqual({
        contentType: 'image/png',
        fileName: 'file.png',
        bytes: Buffer.from(PNG),
      })
      await expect(host().media(media_url.replace(/.{6}\.png$/, 'xxxxxx.png'))).rejects.toThrow(/no media/)
    })

    it('of others comes through the door, with a name that is one', async () => {
      const named = async (path: string, type?: string) => {
        answer = (_request, reply) =>
          reply.writeHead(200, type ? { 'content-type': type } : {}).end(Buffer.from(PNG))
        const { contentType, fileName, bytes } = await opened(`${files.url}${path}`)
        expect(bytes).toEqual(Buffer.from(PNG))
        return [contentType, fileName]
      }
      expect(await named('/a/b/holiday.png?size=1', 'image/png')).toEqual(['image/png', 'holiday.png'])
      expect(await named('/photo', 'image/jpeg; x=y')).toEqual(['image/jpeg', 'photo.jpg'])
      expect(await named('/my%20photo%2F..%2F.HEIC', 'application/octet-stream')).toEqual([
        'image/heic',
        expect.stringMatching(/^[\w-][\w.-]*\.heic$/),
      ])
      expect(await named('/')).toEqual(['application/octet-stream', 'file.bin'])
      answer = (_request, reply) => reply.writeHead(404).end()
      await expect(host().media(`${files.url}/gone`)).rejects.toThrow('answered 404 instead of the file')
    })
  })

  it('media that never opens or never ends holds up nobody for ever', async () => {
    const { line } = puppet.on(LINE)
    const take = withMedia(world.app.ctx, line, { openMs: 5, pieceMs: 5 })
    async function* stuck() {
      yield Buffer.from(PNG)
      await new Promise(() => {})
    }
    const endless = { body: stuck(), contentType: 'image/png', fileName: 'x.png' }
    const stored: unknown[] = []
    const bring = (content: string, media?: Inbound['media']) => {
      const message = {
        providerId: content,
        from: CLEO,
        content,
        service: 'iMessage',
        sentAt: START,
      } as const
      return take({ ...message, ...(media ? { media } : {}) }, async ({ content, mediaUrl }) => {
        stored.push([content, mediaUrl])
      })
    }
    await Promise.all([
      bring('never opens', () => new Promise(() => {})),
      bring('never ends', async () => endless),
      bring('waits for both'),
    ])
    expect(stored).toEqual([
      ['never opens', ''],
      ['never ends', ''],
      ['waits for both', undefined],
    ])
  })

  it('gives each line an address for callbacks, the same after a restart', async () => {
    const path = () => new URL(host().callbackUrl()).pathname
    const before = path()
    expect(before).toMatch(new RegExp(`^/callbacks/${ids[LINE]}/[\\w-]{43}$`))
    expect(host(SHARED).callbackUrl()).toMatch(
      new RegExp(`^${world.app.url()}/callbacks/${ids[SHARED]}/[\\w-]{43}$`),
    )
    expect(host(SHARED).callbackUrl().slice(-43)).not.toBe(before.slice(-43))
    await world.restart()
    expect(path()).toBe(before)
  })
})

it('gives out the address that the outside knows, and none while nobody can reach it', async () => {
  const puppet = createPuppet()
  const given: string[] = []
  const connect = puppet.connect
  puppet.connect = (line, host) => {
    given.push(host.callbackUrl())
    return connect(line, host)
  }
  const world = await createWorld('sqlite', { drivers: [puppet] })
  try {
    const { id } = (await world.post('/admin/accounts', { email: 'lines@example.com' }, 'admin')).body
    await world.post('/admin/lines', { account_id: id, number: LINE, driver: 'puppet' }, 'admin')
    await world.settle()
    expect(given.at(-1)).toMatch(`${world.app.url()}/callbacks/`)
    await world.restart()
    expect(given.at(-1)).toBe('')
    expect(puppet.on(LINE).host.callbackUrl()).toMatch(`${world.app.url()}/callbacks/`)
  } finally {
    await world.close()
  }
})
