import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TEXT_ONLY } from '../../../src/core/lines/line.js'
import type { Receipt, SendResult } from '../../../src/core/messages/outcome.js'
import { createPuppet, type Puppet } from '../../support/puppet.js'
import { ADA, createWorld, ENGINES, type World } from '../../support/world.js'

const NUMBER = '+12025557001'
const NOT_ON_RCS = {
  status: 'ERROR',
  code: '63036',
  detail: 'The phone has no RCS',
  tryNextService: true,
} as const

/** A carrier that accepts a message and then reports that the recipient is not on its service. */
describe.each(ENGINES)('a receipt that asks for the next service on %s', (engine) => {
  let world: World
  let puppet: Puppet
  beforeEach(async () => {
    puppet = createPuppet()
    puppet.capabilities = () => ({ ...TEXT_ONLY, services: ['RCS', 'SMS'] })
    world = await createWorld(engine, { drivers: [puppet] })
    const { id } = (await world.get('/admin/accounts', 'admin')).body.data[0]
    await world.post('/admin/lines', { account_id: id, number: NUMBER, driver: 'puppet' }, 'admin')
    await world.settle()
  })
  afterEach(() => world.close())

  async function send(to = ADA): Promise<string> {
    const { message_handle } = await world.send({ number: to, from_number: NUMBER })
    await world.settle()
    return message_handle
  }
  const host = () => puppet.on(NUMBER).host
  /** Reports about the nth send. */
  async function report(n: number, news: Partial<Receipt> & Pick<Receipt, 'status'>) {
    await host().receipt({ providerId: `p-${puppet.sent[n]!.ref}`, at: world.app.ctx.clock.now(), ...news })
  }
  const sentTo = (to = ADA) => puppet.sent.filter((one) => one.to === to).map(({ service }) => service)
  const record = async (handle: string) => {
    const { status, service, was_downgraded: isDowngraded, error_reason: reason } = await world.record(handle)
    return [status, service, isDowngraded, reason]
  }

  it('sends the message once more, and no other report about the first send counts', async () => {
    const handle = await send()
    expect(await record(handle)).toEqual(['ACCEPTED', 'RCS', null, null])
    await report(0, { status: 'SENT' })
    for (let times = 0; times < 3; times++) await report(0, NOT_ON_RCS)
    await world.settle()
    expect(sentTo()).toEqual(['RCS', 'SMS'])
    expect(puppet.sent[1]!.ref).not.toBe(puppet.sent[0]!.ref)
    await report(0, NOT_ON_RCS)
    await report(0, { status: 'ERROR', code: '30008' })
    await report(0, { status: 'SENT' })
    await world.settle()
    expect(await record(handle)).toEqual(['SENT', 'SMS', true, null])
    await report(1, { status: 'DELIVERED' })
    expect(await record(handle)).toEqual(['DELIVERED', 'SMS', true, null])
    expect(sentTo()).toEqual(['RCS', 'SMS'])
    const { why } = (await world.get(`/v3/messages/${handle}`)).body.data
    expect(why.summary).toContain('The recipient is not on RCS, so SMS was used.')
    expect(JSON.stringify(why.steps)).toContain('the carrier refused it (63036: The phone has no RCS)')
  })

  it('fails the message if the next service fails, too', async () => {
    const handle = await send()
    await report(0, NOT_ON_RCS)
    await world.settle()
    await report(1, NOT_ON_RCS)
    await world.settle()
    expect(await record(handle)).toEqual(['ERROR', 'SMS', true, 'undelivered'])
    expect(sentTo()).toEqual(['RCS', 'SMS'])
  })

  it('counts before the answer to the send, which then changes nothing', async () => {
    let answer = (_: SendResult) => {}
    puppet.acts.send = () => {
      delete puppet.acts.send
      return new Promise((resolve) => {
        answer = resolve
      })
    }
    const { message_handle: handle } = await world.send({ number: ADA, from_number: NUMBER })
    await expect.poll(() => puppet.sent.length).toBe(1)
    const { ref } = puppet.sent[0]!
    await report(0, { ...NOT_ON_RCS, ref })
    await world.advance(1)
    expect(sentTo()).toEqual(['RCS'])
    answer({ outcome: 'accepted', providerId: `p-${ref}`, status: 'ACCEPTED' })
    await world.settle()
    expect(sentTo()).toEqual(['RCS', 'SMS'])
    expect(await record(handle)).toEqual(['ACCEPTED', 'SMS', true, null])
  })

  it('comes in any order with other reports, and never leads to a third send', async () => {
    const news: (Partial<Receipt> & Pick<Receipt, 'status'>)[] = [
      { status: 'ACCEPTED' },
      { status: 'SENT', service: 'RCS' },
      NOT_ON_RCS,
    ]
    const orders = fc
      .array(fc.constantFrom(...news), { maxLength: 4 })
      .chain((more) => fc.shuffledSubarray([...news, ...more], { minLength: news.length + more.length }))
    let n = 0
    await fc.assert(
      fc.asyncProperty(orders, fc.boolean(), fc.boolean(), async (order, isEarly, isTogether) => {
        const to = `+1202555${8000 + n++}`
        const reportAll = async (ref: string) => {
          const told = order.map(
            (one) => () =>
              host().receipt({
                ...one,
                providerId: `p-${ref}`,
                ref,
                at: world.app.ctx.clock.now(),
              }),
          )
          if (isTogether) await Promise.all(told.map((tell) => tell()))
          else for (const tell of told) await tell()
        }
        if (isEarly)
          puppet.acts.send = async ({ ref }) => {
            delete puppet.acts.send
            await reportAll(ref)
            return { outcome: 'accepted', providerId: `p-${ref}`, status: 'ACCEPTED' }
          }
        const handle = await send(to)
        if (!isEarly) await reportAll(puppet.sent.at(-1)!.ref)
        await world.settle()
        await reportAll(puppet.sent.find((one) => one.to === to)!.ref)
        await world.settle()
        expect(sentTo(to)).toEqual(['RCS', 'SMS'])
        expect((await record(handle)).slice(1)).toEqual(['SMS', true, null])
      }),
      { numRuns: 25 },
    )
  })

  it('sends nothing more if the first send was delivered after all, or the recipient has opted out', async () => {
    const handle = await send()
    host().state('OFFLINE', 'away')
    await report(0, NOT_ON_RCS)
    await report(0, { status: 'DELIVERED' })
    host().state('ONLINE')
    await world.settle()
    expect(await record(handle)).toEqual(['DELIVERED', 'RCS', null, null])
    const second = await send()
    await host().optedOut({ number: ADA })
    await report(1, NOT_ON_RCS)
    await world.settle()
    expect((await record(second)).at(-1)).toBe('opted_out')
    expect(sentTo()).toEqual(['RCS', 'RCS'])
  })

  it('sends nothing more of a message that was deleted', async () => {
    const handle = await send()
    expect((await world.call('DELETE', `/api/v2/messages/${handle}`)).status).toBe(200)
    await report(0, NOT_ON_RCS)
    await world.settle()
    expect(sentTo()).toEqual(['RCS'])
  })

  it('is kept over a restart while the line is away', async () => {
    const handle = await send()
    host().state('OFFLINE', 'away')
    await world.settle()
    await report(0, NOT_ON_RCS)
    await world.settle()
    expect(sentTo()).toEqual(['RCS'])
    const { why } = (await world.get(`/v3/messages/${handle}`)).body.data
    expect(why.verdict).toBe('line_offline')
    await world.restart()
    await world.settle()
    expect(sentTo()).toEqual(['RCS', 'SMS'])
  })

  it('leaves a second send without an answer in doubt, instead of sending a third time', async () => {
    const handle = await send()
    await report(0, { status: 'SENT' })
    puppet.acts.send = async () => ({ outcome: 'unknown', code: 'silent', detail: 'No answer' })
    await report(0, NOT_ON_RCS)
    await world.settle()
    expect(await record(handle)).toEqual(['PENDING', 'SMS', true, null])
    await world.advance(60_000)
    await world.settle()
    expect(await record(handle)).toEqual(['ERROR', 'SMS', true, 'outcome_unknown'])
    expect(sentTo()).toEqual(['RCS', 'SMS'])
  })
})
