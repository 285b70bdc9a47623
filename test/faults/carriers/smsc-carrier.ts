import { TAG } from '../../../src/drivers/smpp/codec/commands.js'
import { createSmsc, type Smsc, type SubmittedMessage } from '../../peers/smsc.js'
import type { Carrier } from './carrier-kill.js'

const DELIVERED = 2

/** A carrier that people text through. */
export interface SmscCarrier extends Carrier {
  /** Delivers a text. True if we acknowledged it, so that it is not delivered again. */
  text(from: string, to: string, content: string): Promise<boolean>
}

/** An SMSC that hands our reference back in its receipts. */
export async function smscCarrier(): Promise<SmscCarrier> {
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

  const carrier: SmscCarrier = {
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
    text: async (from, to, content) => {
      if (smsc.binds() === 0) return false
      const shortMessage = Buffer.from(content, 'latin1')
      const source = from.slice(1)
      const answer = await smsc.bring({
        command: 'deliver_sm',
        source,
        destination: to.slice(1),
        shortMessage,
      })
      return answer.status === 0
    },
    close: () => smsc.close(),
  }
  await start()
  return carrier
}
