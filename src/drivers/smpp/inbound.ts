import type { Inbound } from '../driver.js'
import type { DriverHost } from '../host.js'
import { possibleIds } from './message-id.js'
import { arrivedIn } from './parts.js'
import type { Pdu } from './pdu.js'
import { reportIn } from './receipt-text.js'
import type { Taken } from './session.js'
import type { SmppSettings } from './settings.js'
import { decodeText } from './text.js'

const INTERNATIONAL = 1

/** Turns what the carrier brings into messages and receipts. It is told only when they are stored. */
export function createReceiver(
  host: DriverHost,
  settings: SmppSettings,
  session: string,
): (pdu: Pdu) => Promise<Taken> {
  return async (pdu) => {
    const { octets, part } = arrivedIn(pdu)
    const content = decodeText(octets, pdu.dataCoding ?? 0, settings.alphabet ?? 'gsm7')
    const report = reportIn(pdu, content)
    if (report) {
      const { status, code, detail } = report
      const [providerId, ...otherIds] = possibleIds(report.id, settings.ids ?? 'any')
      // "Unknown" changes nothing; the carrier is thanked for it all the same.
      if (status) await host.receipt({ providerId, otherIds, status, at: host.clock.now(), code, detail })
      return { status: 0 }
    }
    const message: Inbound = {
      session,
      from: numberOf(pdu.source ?? '', pdu.sourceTon ?? 0),
      service: 'SMS',
      content,
      sentAt: host.clock.now(),
      ...(part ? { part: { ...part, ref: `${part.ref}/${part.total}` } } : {}),
    }
    await host.receive(message)
    return { status: 0, told: () => void host.thanked(message).catch(() => {}) }
  }
}

/** Carriers write international numbers without their +; names and short codes stay as they are. */
function numberOf(source: string, ton: number): string {
  const digits = source.replace(/[\s().-]/g, '')
  if (/^\+\d+$/.test(digits)) return digits
  const isLong = /^[1-9]\d{7,14}$/.test(digits)
  return /^\d+$/.test(digits) && (ton === INTERNATIONAL || isLong) ? `+${digits}` : source
}
