import type { SendResult } from '../../core/messages/outcome.js'
import type { Outbound } from '../contract.js'
import type { DriverClock } from '../host.js'
import { TAG } from './codec/commands.js'
import { type IdForm, idKey } from './codec/message-id.js'
import { MAX_PARTS, type PartFields, partsOf } from './codec/parts.js'
import type { Pdu } from './codec/pdu.js'
import { shortRef } from './codec/short-ref.js'
import { meaningOf } from './codec/status.js'
import { encodeText } from './codec/text.js'
import type { Governor } from './governor.js'
import type { Reply, Request } from './requests.js'
import type { SmppSettings } from './settings.js'
import type { Turn } from './turn.js'

/**
 * No part of a message is submitted later than that. It is less than the host waits for the whole, by more than the
 * longest wait for an answer: whatever leaves, we say what became of it.
 */
const SEND_MS = 100 * 60_000
const BUSY_MS = 60_000
/** How long the rest of a text waits for a connection, when its beginning is out. */
const REST_MS = 15_000
const AGAIN_MS = 1000
const WITH_RECEIPT = 1

export interface Wire {
  request(pdu: Request, turn: Turn): Promise<Reply>
  governor: Governor
  clock: DriverClock
  /** Resolves early when the line is closed. */
  pause(ms: number): Promise<void>
  isClosing(): boolean
  /** The carrier took a message after all, whose outcome we have called unknown. */
  tookLate(message: Addressed, providerId: string | undefined): void
}

type Addressed = Pick<Outbound, 'ref' | 'to'>

type NotAccepted = Exclude<SendResult, { outcome: 'accepted' }>
/** What became of one part; an empty id is a carrier's that gives none. */
type PartResult = { id: string } | (NotAccepted & { late?: Promise<Pdu> })

/** The requests that a message needs. `partRef` is the number that the parts of a text share. */
export function prepare(settings: SmppSettings, from: string, message: Outbound, partRef: number): Request[] {
  const text = encoded(settings, message.content)
  const ref = shortRef(message.ref)
  const parts = partsOf(text, settings.long_text ?? 'udh', partRef)
  return parts.map((part) => requestFor(settings, from, message.to, text.dataCoding, ref, part))
}

export function countParts(settings: SmppSettings, content: string): number {
  return partsOf(encoded(settings, content), settings.long_text ?? 'udh', 0).length
}

function encoded(settings: SmppSettings, content: string) {
  return encodeText(content, {
    alphabet: settings.alphabet ?? 'gsm7',
    plainPunctuation: settings.plain_punctuation ?? false,
  })
}

/**
 * Submits a message part by part. A part that was refused for good ends it, and says how far it came; none is
 * submitted twice unless the carrier refused it or it never left.
 */
export async function submit(
  wire: Wire,
  message: Addressed,
  requests: readonly Request[],
  ids: IdForm,
): Promise<SendResult> {
  if (requests.length > MAX_PARTS)
    return { outcome: 'refused', code: 'too_long', detail: `The text needs ${requests.length} parts` }
  const taken: string[] = []
  let turn: Turn | undefined
  for (const [i, pdu] of requests.entries()) {
    const since = wire.clock.now()
    turn = { since, until: turn?.until ?? since + SEND_MS, isRest: i > 0 }
    const result = await submitPart(wire, pdu, turn)
    if (!('id' in result)) {
      const { late, ...ended } = result
      const isLast = i + 1 === requests.length
      // What comes after this part was not submitted, and a text without its end is not sent.
      if (late && isLast)
        void late.then((answer) => tellLate(wire, message, answer, i === 0 ? ids : undefined))
      return i === 0 ? ended : brokenOff(ended, i, requests.length)
    }
    taken.push(result.id ? idKey(result.id, ids) : `${UNNAMED}${message.ref}-${i + 1}`)
  }
  const [providerId] = taken as [string]
  return {
    outcome: 'accepted',
    providerId,
    status: 'SENT',
    ...(taken.length > 1 ? { partIds: taken } : {}),
  }
}

/** Of several parts each has an id, and none is the message's: then `ids` is undefined. */
function tellLate(wire: Wire, { ref, to }: Addressed, answer: Pdu, ids: IdForm | undefined) {
  if (answer.command !== 'submit_sm_resp' || answer.status !== 0) return
  wire.tookLate({ ref, to }, ids && answer.messageId ? idKey(answer.messageId, ids) : undefined)
}

/** Ids of ours, where the carrier gave none. */
export const UNNAMED = 'unnamed-'

/** Some parts are out: the message can neither be taken back nor sent again. */
function brokenOff(result: NotAccepted, done: number, of: number): SendResult {
  const detail = `${result.detail}; ${done} of ${of} parts are out`
  return result.outcome === 'unknown'
    ? { outcome: 'unknown', code: result.code, detail }
    : { outcome: 'refused', code: result.code, detail }
}

async function submitPart(wire: Wire, pdu: Request, turn: Turn): Promise<PartResult> {
  const { clock, governor } = wire
  let failures = 0
  let busy = 'busy'
  for (;;) {
    if (!(await governor.turn(turn)))
      return wire.isClosing()
        ? { outcome: 'never-left', code: 'closing', detail: 'The line is being closed' }
        : tooBusy(busy)
    const reply = await wire.request(pdu, turn)
    if (!reply.answer) {
      if (reply.left) return { outcome: 'unknown', code: 'no_answer', detail: reply.reason, late: reply.late }
      if (clock.now() >= turn.until) return tooBusy(busy)
      // The parts before it are out, so that this one is worth a wait.
      if (!turn.isRest || wire.isClosing() || clock.now() >= turn.since + REST_MS)
        return { outcome: 'never-left', code: 'not_connected', detail: reply.reason }
      await wire.pause(AGAIN_MS)
      continue
    }
    const { name, verdict } = meaningOf(reply.answer.status)
    switch (verdict) {
      case 'ok':
        return accepted(reply.answer, governor)
      case 'slower':
        busy = name
        governor.refused()
        break
      case 'unbound':
        // Its connection ends; another may be there.
        busy = name
        await wire.pause(AGAIN_MS)
        break
      case 'later':
        if (failures++ === 0) {
          await wire.pause(AGAIN_MS)
          break
        }
        return { outcome: 'refused', code: name, detail: 'The carrier refused the message' }
      case 'never':
        return { outcome: 'refused', code: name, detail: 'The carrier refused the message' }
    }
  }
}

function tooBusy(code: string): NotAccepted {
  return { outcome: 'never-left', code, detail: 'The carrier is too busy', retryAfterMs: BUSY_MS }
}

function accepted(answer: Pdu, governor: Governor): PartResult {
  // "I did not understand that, and all is well": nobody can tell what it did.
  if (answer.command === 'generic_nack')
    return { outcome: 'unknown', code: 'no_answer', detail: 'The carrier gave an answer that says nothing' }
  governor.took()
  return { id: answer.messageId ?? '' }
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
    validity: validityOf(settings.validity_minutes),
    registeredDelivery: settings.receipts === false ? 0 : WITH_RECEIPT,
    dataCoding,
    ...part,
    tlvs: new Map([...(part.tlvs ?? []), [TAG.userMessageReference, Buffer.from([ref >> 8, ref & 0xff])]]),
  }
}

/** From now on, as the protocol writes it: years, months, days, hours, minutes, seconds, tenths, and R. */
function validityOf(minutes: number | undefined): string {
  if (minutes === undefined) return ''
  const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24, minutes % 60]
  return `0000${[days, hours, rest].map((n) => String(n).padStart(2, '0')).join('')}00000R`
}
