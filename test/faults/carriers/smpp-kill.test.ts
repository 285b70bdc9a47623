import { describe, it } from 'vitest'
import { TAG } from '../../../src/drivers/smpp/codec/commands.js'
import { createSmsc, type Smsc, type SubmittedMessage } from '../../peers/smsc.js'
import { ENGINES } from '../../support/world.js'
import { type Carrier, killEverywhere } from './carrier-kill.js'

const DELIVERED = 2

describe.concurrent.each(ENGINES)('kill -9 of us and of the SMSC, on %s', (engine) => {
  it('no text twice, none lost, and what the SMSC reports is known', async () => {
    const carrier = await smscCarrier()
    try {
      await killEverywhere(engine, carrier)
    } finally {
      await carrier.close()
    }
  })
})

/** An SMSC that hands our reference back in its receipts. */
async function smscCarrier(): Promise<Carrier> {
  const texts: string[] = []
  const unreported: SubmittedMessage[] = []
  let smsc: Smsc
  let port = 0
  let silent = 0
  let awaited: { isAnswered: boolean; act(): void } | undefined

  async function start() {
    let seen = 0
    smsc = await createSmsc({
      port,
      submit(pdu) {
        const text = pdu.shortMessage!.toString('latin1')
        texts.push(text)
        const answer = { answer: 0, messageId: `M${texts.length}` }
        if (!awaited) return answer
        const { isAnswered, act } = awaited
        awaited = undefined
        act()
        return isAnswered ? answer : 'silence'
      },
    })
    port = smsc.port
    watch = () => {
      // A submit without an answer has an id of its own, too.
      for (const one of smsc.submitted.slice(seen))
        unreported.push(one.messageId.startsWith('M') ? one : { ...one, messageId: `S${++silent}` })
      seen = smsc.submitted.length
    }
  }
  let watch = () => {}

  const carrier: Carrier = {
    driver: 'smpp',
    get config() {
      return { host: '127.0.0.1', port, system_id: 'us', password: 'secret', response_ms: 1000 }
    },
    taken: () => texts,
    whenTaken(isAnswered, act) {
      awaited = { isAnswered, act }
    },
    async die() {
      await smsc.close()
      watch()
    },
    revive: start,
    async report() {
      watch()
      if (smsc.binds() === 0) return unreported.length
      for (const { messageId, pdu } of [...unreported]) {
        const reference = pdu.tlvs?.get(TAG.userMessageReference)
        const tlvs = new Map([
          [TAG.receiptedMessageId, Buffer.from(`${messageId}\0`)],
          [TAG.messageState, Buffer.from([DELIVERED])],
          ...(reference ? [[TAG.userMessageReference, reference] as const] : []),
        ])
        const answer = await smsc.bring({
          command: 'deliver_sm',
          esmClass: 4,
          source: pdu.destination,
          destination: pdu.source,
          tlvs,
        })
        if (answer.status !== 0) break
        unreported.splice(
          unreported.findIndex((one) => one.messageId === messageId),
          1,
        )
      }
      return unreported.length
    },
    close: () => smsc.close(),
  }
  await start()
  return carrier
}
