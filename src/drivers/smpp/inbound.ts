import { randomUUID } from 'node:crypto'
import { createBoundedMap } from '../../base/bounded-map.js'
import type { DriverHost } from '../host.js'
import type { Inbound } from '../inbound.js'
import { possibleIds } from './codec/message-id.js'
import { readIncoming } from './codec/parts.js'
import type { Pdu } from './codec/pdu.js'
import { type DeliveryReport, isMessage, type ReceiptReader, reportIn } from './codec/receipt-text.js'
import { decodeText } from './codec/text.js'
import type { Doubts } from './doubts.js'
import type { DeliveryAnswer } from './session.js'
import type { SmppSettings } from './settings.js'

const INTERNATIONAL = 1
/** Refused messages to remember; the carrier redelivers them soon. */
const MAX_REMEMBERED = 10_000

export interface ReceiverOptions {
  host: Pick<DriverHost, 'receive' | 'acknowledged' | 'receipt' | 'clock' | 'log'>
  settings: Pick<SmppSettings, 'alphabet' | 'ids'>
  doubts: Doubts
  reader?: ReceiptReader
}

/**
 * Turns PDUs from one connection into messages and receipts. A PDU is answered only after its message or receipt is
 * stored.
 */
export function createReceiver(options: ReceiverOptions): (pdu: Pdu) => Promise<DeliveryAnswer> {
  const { host, settings } = options
  const sessions = createSessionNames()
  return async (pdu) => {
    const { octets, part } = readIncoming(pdu)
    const dataCoding = pdu.dataCoding ?? 0
    // Receipts are ASCII, independent of the carrier's alphabet.
    const report = isMessage(pdu)
      ? undefined
      : await readReport(pdu, decodeText(octets, dataCoding, 'latin1'), options.reader)
    const from = numberOf(pdu.source ?? '', pdu.sourceTon ?? 0)
    if (report === 'nothing') {
      host.log.info({ esmClass: pdu.esmClass }, 'ignored a notification without message id')
      return { status: 0 }
    }
    if (report) {
      await passReport(options, report, from)
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
    return { status: 0, onRead: () => void host.acknowledged(message).catch(() => {}) }
  }
}

async function readReport(pdu: Pdu, text: string, reader: ReceiptReader | undefined) {
  return reportIn(pdu, text, await reader?.(text))
}

/**
 * Names the connection of a message, so that the host can tell a redelivery from an equal new message: a carrier
 * redelivers an answered message only over another connection. A message that we refused comes again over the same
 * connection although it may have been stored, so its sender and text get a new name from then on. All other
 * messages keep the old name, because their answers may still be on the way.
 */
function createSessionNames() {
  const own = randomUUID()
  const others = createBoundedMap<string, string>(MAX_REMEMBERED)
  // Sharing a name without need is harmless, so a prefix of the text is enough.
  const keyOf = (from: string, content: string) => `${from} ${content.slice(0, 200)}`
  return {
    nameFor: (from: string, content: string) =>
      others.size() === 0 ? own : (others.get(keyOf(from, content)) ?? own),
    refused: (from: string, content: string) => others.set(keyOf(from, content), randomUUID()),
  }
}

async function passReport(options: ReceiverOptions, report: DeliveryReport, to: string): Promise<void> {
  // A report of "unknown" changes nothing, but it is acknowledged.
  if (!report.status) return
  const proof = options.doubts.judge(report, to)
  if (!report.id && !proof) return
  await options.host.receipt(receiptOf(options, report, to, proof))
}

/** The receipt for the host; with a proof, it names the send in doubt. The report has a status. */
export function receiptOf(
  { host, settings }: Pick<ReceiverOptions, 'host' | 'settings'>,
  report: DeliveryReport,
  to: string,
  proof: ReturnType<Doubts['judge']>,
) {
  const [providerId, ...otherIds] = report.id ? possibleIds(report.id, settings.ids ?? 'any') : []
  return {
    ...(providerId ? { providerId, otherIds } : {}),
    ...(proof ? { ref: proof.ref } : {}),
    ...(proof && proof.parts > 1 ? { parts: proof.parts } : {}),
    ...(to ? { to } : {}),
    status: report.status!,
    at: host.clock.now(),
    code: report.code,
    detail: report.detail,
    ...(proof ? {} : { evidence: report }),
  }
}

/** Carriers omit the + of international numbers; alphanumeric senders and short codes stay unchanged. */
export function numberOf(source: string, ton: number): string {
  const digits = source.replace(/[\s().-]/g, '')
  if (/^\+\d+$/.test(digits)) return digits
  const isLong = /^[1-9]\d{7,14}$/.test(digits)
  return /^\d+$/.test(digits) && (ton === INTERNATIONAL || isLong) ? `+${digits}` : source
}
