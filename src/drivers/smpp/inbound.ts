import { randomUUID } from 'node:crypto'
import type { DriverHost } from '../host.js'
import type { Inbound } from '../inbound.js'
import { possibleIds } from './codec/message-id.js'
import { arrivedIn } from './codec/parts.js'
import type { Pdu } from './codec/pdu.js'
import { type DeliveryReport, isMessage, type ReceiptReader, reportIn } from './codec/receipt-text.js'
import { decodeText } from './codec/text.js'
import type { Doubts } from './doubts.js'
import type { Taken } from './session.js'
import type { SmppSettings } from './settings.js'

const INTERNATIONAL = 1
/** The latest that were refused; the carrier brings them again soon. */
const MAX_REFUSED = 10_000

export interface ReceiverOptions {
  host: Pick<DriverHost, 'receive' | 'thanked' | 'receipt' | 'clock' | 'log'>
  settings: Pick<SmppSettings, 'alphabet' | 'ids'>
  doubts: Doubts
  reader?: ReceiptReader
}

/**
 * Turns what the carrier brings over one connection into messages and receipts. It is told only when they are
 * stored.
 */
export function createReceiver(options: ReceiverOptions): (pdu: Pdu) => Promise<Taken> {
  const { host, settings } = options
  const sessions = createSessionNames()
  return async (pdu) => {
    const { octets, part } = arrivedIn(pdu)
    const dataCoding = pdu.dataCoding ?? 0
    // Receipts are written by machines, in ASCII, whatever the alphabet is.
    const report = isMessage(pdu)
      ? undefined
      : reportIn(pdu, decodeText(octets, dataCoding, 'latin1'), options.reader)
    const from = numberOf(pdu.source ?? '', pdu.sourceTon ?? 0)
    if (report === 'nothing') {
      host.log.info({ esmClass: pdu.esmClass }, 'the carrier brought a notification that tells nothing')
      return { status: 0 }
    }
    if (report) {
      await tell(options, report, from)
      return { status: 0 }
    }
    const content = decodeText(octets, dataCoding, settings.alphabet ?? 'gsm7')
    const message: Inbound = {
      session: sessions.nameFor(from, content),
      from,
      service: 'SMS',
      content,
      sentAt: host.clock.now(),
      ...(part ? { part } : {}),
    }
    try {
      await host.receive(message)
    } catch (error) {
      sessions.refused(from, content)
      throw error
    }
    return { status: 0, told: () => void host.thanked(message).catch(() => {}) }
  }
}

/**
 * Only another connection can bring a message again, so each has a name of its own. What we refused comes again over
 * the same one, and may have been stored all the same: its like goes by another name from then on, and the others,
 * whose thanks may be under way, by the old one.
 */
function createSessionNames() {
  const own = randomUUID()
  const others = new Map<string, string>()
  // Nothing is wrong with two that share a name without need.
  const keyOf = (from: string, content: string) => `${from} ${content.slice(0, 200)}`
  return {
    nameFor: (from: string, content: string) =>
      others.size === 0 ? own : (others.get(keyOf(from, content)) ?? own),
    refused(from: string, content: string) {
      const key = keyOf(from, content)
      others.delete(key)
      others.set(key, randomUUID())
      if (others.size > MAX_REFUSED) others.delete(others.keys().next().value!)
    },
  }
}

async function tell(options: ReceiverOptions, report: DeliveryReport, to: string): Promise<void> {
  // "Unknown" changes nothing; the carrier is thanked for it all the same.
  if (!report.status) return
  const proof = options.doubts.judge(report, to)
  if (!report.id && !proof) return
  await options.host.receipt(receiptOf(options, report, to, proof))
}

/** What the host is told of a report; with the proof, of which send in doubt it is. */
export function receiptOf(
  { host, settings }: Pick<ReceiverOptions, 'host' | 'settings'>,
  report: DeliveryReport,
  to: string,
  proof: ReturnType<Doubts['judge']>,
) {
  const [providerId, ...otherIds] = report.id ? possibleIds(report.id, settings.ids ?? 'any') : []
  const status = proof?.status ?? report.status!
  // Of several parts each has an id, and none is the message's.
  const isOfPart = proof?.isCertain && status !== report.status
  return {
    ...(providerId && !isOfPart ? { providerId, otherIds } : {}),
    ...(proof ? { ref: proof.ref } : {}),
    ...(to ? { to } : {}),
    status,
    at: host.clock.now(),
    code: report.code,
    detail: report.detail,
  }
}

/** Carriers write international numbers without their +; names and short codes stay as they are. */
export function numberOf(source: string, ton: number): string {
  const digits = source.replace(/[\s().-]/g, '')
  if (/^\+\d+$/.test(digits)) return digits
  const isLong = /^[1-9]\d{7,14}$/.test(digits)
  return /^\d+$/.test(digits) && (ton === INTERNATIONAL || isLong) ? `+${digits}` : source
}
