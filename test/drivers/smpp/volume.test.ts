import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TAG } from '../../../src/drivers/smpp/codec/commands.js'
import type { Pdu } from '../../../src/drivers/smpp/codec/pdu.js'
import { createSmsc, type Smsc } from '../../peers/smsc.js'
import { addSmppLine, eventually } from '../../support/drivers/smpp.js'
import { turns } from '../../support/turns.js'
import { createSink, type Sink } from '../../support/web/sink.js'
import { createWorld, ENGINES, type World } from '../../support/world.js'

const LINE = '+12025550170'
const LONG = 'The quick brown fox jumps over the lazy dog. '.repeat(9).slice(0, 400)
const MESSAGES = 300

/**
 * A carrier with hexadecimal ids from 1, which reports before, with and after its answers: each report must find
 * its message, and each message must end as reported.
 */
describe.each(ENGINES)('many messages through SMPP on %s', (engine) => {
  let world: World
  let smsc: Smsc
  let sink: Sink
  let ids = 0
  beforeAll(async () => {
    smsc = await createSmsc()
    sink = await createSink()
    world = await createWorld(engine, { isReal: true })
    await addSmppLine(world, smsc, LINE, { pace: 0, config: { window: 50 } })
  })
  afterAll(async () => {
    await smsc.close()
    await world.close()
    await sink.close()
  })

  const nthOf = (pdu: Pdu) => Number(pdu.destination!.slice(-4))
  const fails = (n: number) => n % 11 === 5

  it('matches every report to its message, in any order', async () => {
    smsc.options.submit = (pdu) => {
      const messageId = (++ids).toString(16).padStart(8, '0')
      const n = nthOf(pdu)
      const bring = () =>
        void smsc.bring({
          command: 'deliver_sm',
          esmClass: 4,
          source: pdu.destination!,
          sourceTon: 1,
          destination: pdu.source!,
          shortMessage: Buffer.from(
            `id:${messageId} sub:001 dlvrd:001 stat:${fails(n) ? 'UNDELIV' : 'DELIVRD'} err:000 text:`,
          ),
        })
      if (n % 3 === 0) bring()
      else if (n % 3 === 1) setImmediate(bring)
      else void turns(200).then(bring)
      return { answer: 0, messageId }
    }
    const handles = await Promise.all(
      Array.from({ length: MESSAGES }, async (_, n) => {
        const { message_handle } = await world.send({
          from_number: LINE,
          number: `+1202555${1000 + n}`,
          content: n % 7 === 3 ? LONG : `Hello ${n}`,
          status_callback: sink.url,
        })
        return message_handle as string
      }),
    )
    const ends = Array.from({ length: MESSAGES }, (_, n) => (fails(1000 + n) ? 'ERROR' : 'DELIVERED'))
    const told = () => {
      const statuses = new Map<string, string[]>()
      for (const { body } of sink.received)
        statuses.set(body.message_handle, [...(statuses.get(body.message_handle) ?? []), body.status])
      return handles.map((handle) => statuses.get(handle)?.join(' '))
    }
    await eventually(() => expect(told()).toEqual(ends.map((end) => `QUEUED SENT ${end}`)))
    const records = await Promise.all(handles.map((handle) => world.record(handle)))
    expect(records.map(({ status }) => status)).toEqual(ends)
    expect(await world.app.ctx.db.all('select * from parked_receipts')).toEqual([])
    // Nothing was submitted twice.
    const refs = smsc.submitted.map(
      ({ pdu }) =>
        `${pdu.destination} ${pdu.tlvs!.get(TAG.userMessageReference)!.toString('hex')} ${pdu.shortMessage!.subarray(0, 6).toString('hex')}`,
    )
    expect(new Set(refs).size).toBe(refs.length)
  })
})
