import { TEXT_ONLY } from '../../src/core/lines/line.js'
import type { Receipt, SendResult } from '../../src/core/messages/outcome.js'
import type { Connection, Driver, Outbound } from '../../src/drivers/contract.js'
import type { DriverHost } from '../../src/drivers/host.js'
import type { Chance } from './chance.js'
import type { Life } from './life.js'

/** A carrier outside of all processes. What it took and what it delivered is the truth that a run is checked against. */
export interface Carrier {
  /** The driver as one process has it. */
  driver(life: Life): Driver
  /** How often each text was taken. */
  taken: Map<string, number>
  /** Refused for good. */
  refused: Set<string>
  /** Texts with a receipt of their delivery that the program took. */
  delivered: Set<string>
  /** A person texts the line. The carrier delivers the text until it is acknowledged. */
  text(content: string): void
  /** Texts without an acknowledgement. */
  undelivered(): number
  /** Hands over what waits: texts, again if they were not acknowledged, and receipts. */
  deliver(): Promise<void>
  /** No more faults. */
  heal(): void
}

export const KIND = 'weather'
/** The longest time after which the carrier takes a message late. */
const SETTLE_MS = 5000

export function createCarrier(chance: Chance, now: () => number): Carrier {
  const taken = new Map<string, number>()
  const refs = new Map<string, string>()
  const refused = new Set<string>()
  const delivered = new Set<string>()
  const contents = new Map<string, string>()
  const texts = new Map<string, { content: string; sentAt: number }>()
  const receipts: Receipt[] = []
  let connected: { host: DriverHost; life: Life } | undefined
  let isHealthy = false
  let number = 0
  /** Messages that the carrier takes only later, though their connection broke. */
  let late: { at: number; message: Outbound }[] = []

  function takeLate() {
    const due = late.filter(({ at }) => at <= now())
    late = late.filter((one) => !due.includes(one))
    for (const { message } of due) take(message)
  }

  function take({ ref, content }: Outbound): string {
    taken.set(content, (taken.get(content) ?? 0) + 1)
    const providerId = `id-${++number}`
    refs.set(ref, providerId)
    contents.set(providerId, content)
    for (const status of ['SENT', 'DELIVERED'] as const)
      for (let copies = chance.below(3); copies > 0; copies--)
        receipts.splice(chance.below(receipts.length + 1), 0, { providerId, status, at: now() })
    return providerId
  }

  const outcomes: Record<string, (message: Outbound) => SendResult | Promise<SendResult>> = {
    accepts: (message) => ({ outcome: 'accepted', providerId: take(message), status: 'ACCEPTED' }),
    refuses({ content }) {
      refused.add(content)
      return { outcome: 'refused', code: 'no', detail: 'Refused' }
    },
    drops: () => ({ outcome: 'never-left', code: 'down', detail: 'Not connected' }),
    acceptsInSilence(message) {
      take(message)
      return { outcome: 'unknown', code: 'silent', detail: 'No answer' }
    },
    acceptsLate(message) {
      late.push({ at: now() + chance.below(SETTLE_MS), message })
      return { outcome: 'unknown', code: 'broken', detail: 'The connection broke' }
    },
    losesInSilence: () => ({ outcome: 'unknown', code: 'silent', detail: 'No answer' }),
    breaks(message) {
      if (chance.happens(0.5)) take(message)
      throw new Error('The connection broke')
    },
  }

  return {
    taken,
    refused,
    delivered,
    driver: (life) => ({
      kind: KIND,
      title: 'A carrier with weather',
      config: { type: 'object', properties: {} },
      defaults: { pace: 0, settleMs: SETTLE_MS },
      capabilities: () => TEXT_ONLY,
      async connect(_line, host): Promise<Connection> {
        connected = { host, life }
        host.state('ONLINE')
        return {
          send(message) {
            const isFair = isHealthy || chance.happens(0.6)
            const kind = isFair ? 'accepts' : chance.pick(Object.keys(outcomes))
            return life.through(async () => outcomes[kind]!(message))
          },
          lookup: ({ ref }) =>
            life.through(async () => {
              takeLate()
              const providerId = refs.get(ref)
              return providerId ? { found: true, providerId, status: 'ACCEPTED' } : { found: false }
            }),
          async close() {
            if (connected?.life === life) connected = undefined
          },
        }
      },
    }),
    text(content) {
      texts.set(`text-${texts.size}-${content}`, { content, sentAt: now() })
    },
    undelivered: () => texts.size + receipts.length,
    async deliver() {
      takeLate()
      const { host, life } = connected ?? {}
      if (!host || !life || life.isOver()) return
      /** Whether the program took it; a carrier repeats what was refused. */
      const isTaken = (work: Promise<void>) =>
        Promise.race([
          work.then(
            () => true,
            () => false,
          ),
          life.ended.then(() => false),
        ])
      for (const [providerId, { content, sentAt }] of texts) {
        const message = { providerId, from: '+12025557000', service: 'SMS', content, sentAt } as const
        const copies = chance.happens(0.2) ? 2 : 1
        const stored = await Promise.all(Array.from({ length: copies }, () => isTaken(host.receive(message))))
        // Some acknowledgements are lost on the way.
        if (stored.includes(true) && (isHealthy || chance.happens(0.8))) texts.delete(providerId)
      }
      for (const receipt of [...receipts]) {
        if (!(await isTaken(host.receipt(receipt)))) return
        receipts.splice(receipts.indexOf(receipt), 1)
        if (receipt.status === 'DELIVERED') delivered.add(contents.get(receipt.providerId!)!)
      }
    },
    heal() {
      isHealthy = true
    },
  }
}
