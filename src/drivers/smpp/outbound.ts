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
 * No part is submitted later than this after the send began. The margin below the driver's `sendTimeoutMs` is
 * longer than the longest wait for an answer, so the driver always reports an outcome itself.
 */
const SUBMIT_WITHIN_MS = 100 * 60_000
const BUSY_RETRY_MS = 60_000
/** How long further parts wait for a connection once the first part is sent. */
const REST_WAIT_MS = 15_000
const PART_RETRY_MS = 1000
const WITH_RECEIPT = 1

export interface Wire {
  request(pdu: Request, turn: Turn): Promise<Reply>
  governor: Governor
  clock: DriverClock
  /** Resolves early if the line closes. */
  pause(ms: number): Promise<void>
  isClosing(): boolean
  /** The carrier accepted a message after its outcome was reported as unknown. */
  onLateAcceptance(message: SendRef, providerId: string | undefined): Promise<void>
}

type SendRef = Pick<Outbound, 'ref' | 'to'>

type SendFailure = Exclude<SendResult, { outcome: 'accepted' }>
/** Result of one part; the id is empty if the carrier returned none. */
type PartResult = { id: string } | (SendFailure & { late?: Promise<Pdu> })

/** Builds the requests for a message. `partRef` is the reference number shared by the parts of a text. */
export function prepare(settings: SmppSettings, from: string, message: Outbound, partRef: number): Request[] {
  const text = encode(settings, message.content)
  const ref = shortRef(message.ref)
  const parts = partsOf(text, settings.long_text ?? 'udh', partRef)
  return parts.map((part) => requestFor(settings, from, message.to, text.dataCoding, ref, part))
}

export function countParts(settings: SmppSettings, content: string): number {
  return partsOf(encode(settings, content), settings.long_text ?? 'udh', 0).length
}

function encode(settings: SmppSettings, content: string) {
  return encodeText(content, {
    alphabet: settings.alphabet ?? 'gsm7',
    plainPunctuation: settings.plain_punctuation ?? false,
  })
}

/**
 * Submits a message part by part. A refused part ends the message, and the result says how many parts the carrier took. A
 * part is submitted again only if the carrier refused it or it never left.
 */
export async function submit(
  wire: Wire,
  message: SendRef,
  requests: readonly Request[],
  ids: IdForm,
): Promise<SendResult> {
  if (requests.length > MAX_PARTS)
    return {
      outcome: 'refused',
      code: 'too_long',
      detail: `content: needs ${requests.length} parts; at most ${MAX_PARTS} are possible`,
    }
  const taken: string[] = []
  let turn: Turn | undefined
  for (const [i, pdu] of requests.entries()) {
    const since = wire.clock.now()
    turn = { since, until: turn?.until ?? since + SUBMIT_WITHIN_MS, isRest: i > 0 }
    const result = await submitPart(wire, pdu, turn)
    if (!('id' in result)) {
      const { late, ...ended } = result
      const isLast = i + 1 === requests.length
      // Only a late answer to the last part completes the message: later parts were not submitted.
      if (late && isLast)
        void late.then((answer) => reportLateAnswer(wire, message, answer, i === 0 ? ids : undefined))
      return i === 0 ? ended : partialFailure(ended, taken, requests.length)
    }
    taken.push(result.id && idKey(result.id, ids))
  }
  return {
    outcome: 'accepted',
    providerId: taken[0] || `${GENERATED_ID_PREFIX}${message.ref}`,
    status: 'SENT',
    ...(taken.length > 1 ? { partIds: taken } : {}),
  }
}

/** `ids` is undefined for a text of several parts: a part's id is not the message's. */
function reportLateAnswer(wire: Wire, { ref, to }: SendRef, answer: Pdu, ids: IdForm | undefined) {
  if (answer.command !== 'submit_sm_resp' || answer.status !== 0) return
  void wire.onLateAcceptance({ ref, to }, ids && answer.messageId ? idKey(answer.messageId, ids) : undefined)
}

/** Prefix of generated ids, for carriers that return none. */
export const GENERATED_ID_PREFIX = 'unnamed-'

/** Some parts are sent: the message can be neither recalled nor sent again. */
function partialFailure(result: SendFailure, ids: readonly string[], of: number): SendResult {
  const { outcome, code } = result
  const detail = `${result.detail}; ${ids.length} of ${of} parts taken`
  return outcome === 'unknown'
    ? { outcome, code, detail, parts: { ids, of } }
    : { outcome: 'refused', code, detail }
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
      // Earlier parts are sent, so this part waits for a connection.
      if (!turn.isRest || wire.isClosing() || clock.now() >= turn.since + REST_WAIT_MS)
        return { outcome: 'never-left', code: 'not_connected', detail: reply.reason }
      await wire.pause(PART_RETRY_MS)
      continue
    }
    const { name, verdict } = meaningOf(reply.answer.status)
    switch (verdict) {
      case 'ok':
        return readAcceptance(reply.answer, governor)
      case 'slower':
        busy = name
        governor.throttled()
        break
      case 'unbound':
        // This connection ends; another may be open.
        busy = name
        await wire.pause(PART_RETRY_MS)
        break
      case 'later':
        if (failures++ === 0) {
          await wire.pause(PART_RETRY_MS)
          break
        }
        return { outcome: 'refused', code: name, detail: 'The carrier refused the message' }
      case 'never':
        return { outcome: 'refused', code: name, detail: 'The carrier refused the message' }
    }
  }
}

function tooBusy(code: string): SendFailure {
  return { outcome: 'never-left', code, detail: 'The carrier is too busy', retryAfterMs: BUSY_RETRY_MS }
}

function readAcceptance(answer: Pdu, governor: Governor): PartResult {
  // A generic_nack with status OK does not say whether the carrier accepted the message.
  if (answer.command === 'generic_nack')
    return {
      outcome: 'unknown',
      code: 'no_answer',
      detail: 'The carrier answered generic_nack without an error',
    }
  governor.accepted()
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

/** Relative time in SMPP format: YYMMDDhhmmss, tenths, 00, R. */
function validityOf(minutes: number | undefined): string {
  if (minutes === undefined) return ''
  const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24, minutes % 60]
  return `0000${[days, hours, rest].map((n) => String(n).padStart(2, '0')).join('')}00000R`
}
