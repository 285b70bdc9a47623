import { createHash } from 'node:crypto'
import type { SendResult } from '../../core/outcome.js'
import type { Outbound } from '../driver.js'
import type { DriverClock } from '../host.js'
import { TAG } from './commands.js'
import type { Governor } from './governor.js'
import { MAX_PARTS, type PartFields, partsOf } from './parts.js'
import type { Reply, Request } from './requests.js'
import type { SmppSettings } from './settings.js'
import { meaningOf } from './status.js'
import { encodeText } from './text.js'

/** How long a message may wait here for a carrier that says "slower"; after that it waits in the queue. */
const PATIENCE_MS = 15_000
const AGAIN_MS = 1000
const WITH_RECEIPT = 1

export interface Wire {
  request(pdu: Request): Promise<Reply>
  governor: Governor
  clock: DriverClock
}

/** What became of one part. */
type PartResult = { id: string } | Exclude<SendResult, { outcome: 'accepted' }>

/** A number of sixteen bits that stands for a send: what carriers can hand back in receipts. */
export function shortRef(ref: string): number {
  return createHash('sha256').update(ref).digest().readUInt16BE(0)
}

/**
 * Submits a message part by part. A part that was refused for good ends it, and says how far it came; none is
 * submitted twice unless the carrier refused it or it never left.
 */
export async function submit(
  wire: Wire,
  settings: SmppSettings,
  from: string,
  message: Outbound,
): Promise<SendResult> {
  const text = encodeText(message.content, {
    alphabet: settings.alphabet ?? 'gsm7',
    plainPunctuation: settings.plain_punctuation ?? false,
  })
  const ref = shortRef(message.ref)
  const parts = partsOf(text, settings.long_text ?? 'udh', ref)
  if (parts.length > MAX_PARTS)
    return { outcome: 'refused', code: 'too_long', detail: `The text needs ${parts.length} parts` }
  const ids: string[] = []
  for (const part of parts) {
    const pdu = requestFor(settings, from, message.to, text.dataCoding, ref, part)
    const result = await submitPart(wire, pdu, ids.length > 0)
    if (!('id' in result)) return ids.length === 0 ? result : brokenOff(result, ids.length, parts.length)
    ids.push(result.id)
  }
  const [providerId] = ids as [string]
  return {
    outcome: 'accepted',
    providerId,
    status: 'SENT',
    ...(ids.length > 1 ? { partIds: ids } : {}),
  }
}

/** Some parts are out: the message can neither be taken back nor sent again. */
function brokenOff(
  result: Exclude<SendResult, { outcome: 'accepted' }>,
  done: number,
  of: number,
): SendResult {
  const detail = `${result.detail}; ${done} of ${of} parts are out`
  return result.outcome === 'unknown'
    ? { outcome: 'unknown', code: result.code, detail }
    : { outcome: 'refused', code: result.code, detail }
}

async function submitPart(wire: Wire, pdu: Request, mustGoOn: boolean): Promise<PartResult> {
  const { clock, governor } = wire
  const deadline = clock.now() + PATIENCE_MS
  for (let tries = 0; ; tries++) {
    await governor.turn()
    const reply = await wire.request(pdu)
    if (!reply.answer) {
      if (reply.left) return { outcome: 'unknown', code: 'no_answer', detail: reply.reason }
      const result = { outcome: 'never-left', code: 'not_connected', detail: reply.reason } as const
      // The parts before it are out, so that this one is worth a wait.
      if (!mustGoOn || clock.now() >= deadline) return result
      await pause(clock)
      continue
    }
    const { status, messageId } = reply.answer
    const { name, verdict } = meaningOf(status)
    if (verdict === 'ok') {
      governor.took()
      return { id: messageId || `unnamed-${shortRef(`${pdu.destination}${clock.now()}`)}` }
    }
    if (verdict === 'slower') governor.refused()
    else if (verdict === 'never' || (verdict === 'later' && tries > 0))
      return { outcome: 'refused', code: name, detail: 'The carrier refused the message' }
    else await pause(clock)
    if (clock.now() >= deadline)
      return { outcome: 'never-left', code: name, detail: 'The carrier is too busy', retryAfterMs: AGAIN_MS }
  }
}

function pause(clock: DriverClock): Promise<void> {
  return new Promise((resolve) => clock.after(AGAIN_MS, resolve))
}

function requestFor(
  settings: SmppSettings,
  from: string,
  to: string,
  dataCoding: number,
  ref: number,
  part: PartFields,
): Request {
  const digits = (number: string) => (settings.plus ? number : number.replace(/^\+/, ''))
  return {
    command: 'submit_sm',
    serviceType: settings.service_type ?? '',
    sourceTon: settings.source_ton ?? 1,
    sourceNpi: settings.source_npi ?? 1,
    source: digits(from),
    destTon: settings.dest_ton ?? 1,
    destNpi: settings.dest_npi ?? 1,
    destination: digits(to),
    registeredDelivery: WITH_RECEIPT,
    dataCoding,
    ...part,
    tlvs: new Map([...(part.tlvs ?? []), [TAG.userMessageReference, Buffer.from([ref >> 8, ref & 0xff])]]),
  }
}
