import { AppError } from '../../core/errors.js'
import { fieldsOf } from '../../core/fields.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import type { SendResult } from '../../core/messages/outcome.js'
import { type MacAnswer, MacFault } from './mac.js'
import { type Row, readRow } from './reading/rows.js'

export type SendFailure = Exclude<SendResult, { outcome: 'accepted' }>

/** The server's answer to a send: the message's row in the Mac's database, or a failure. */
export type SendAnswer = { row: Row } | { failed: SendFailure; isChatGone?: true }

/** Apple's error number for a recipient who is not on iMessage. */
const NOT_IMESSAGE = 22
const NOT_DONE = /private api (?:is not enabled|helper is not connected)/i
const CHAT_GONE = /chat does not exist/i
const NO_HANDLE = /(?:find|get).{0,40}handle/i
const IN_FLIGHT = /already queued|already in (?:the )?queue/i

/** Reads the answer to a send. Success only means that Messages wrote a row; Apple may still refuse it. */
export function readSendAnswer(
  answer: MacAnswer,
  rowIn: (data: unknown) => unknown = (data) => data,
): SendAnswer {
  const { status, fault } = answer
  const row = readRow(rowIn(answer.data))
  // A failed send is answered with the failed message in it.
  if (row && row.error !== 0) return { failed: refusalOf(row.error) }
  if (status === 200 && answer.isEnvelope) {
    if (row) return { row }
    return { failed: unknown('garbled', 'The server reported success but did not name the message') }
  }
  const detail = fault || `The server answered HTTP ${status}`
  const code = `http_${status}`
  if (status === 401 || status === 403 || status === 407) return { failed: neverLeft(code, detail) }
  if (status === 429) return { failed: neverLeft(code, detail) }
  if (status >= 300 && status < 400)
    return {
      failed: neverLeft(code, 'The url setting answers with a redirect. Set it to the server on the Mac.'),
    }
  if (status === 400 && IN_FLIGHT.test(fault)) return { failed: unknown('in_flight', detail) }
  if (CHAT_GONE.test(fault) || (status === 404 && answer.isEnvelope))
    return { failed: neverLeft('no_chat', detail), isChatGone: true }
  if (status >= 400 && status < 500 && status !== 408) return { failed: { outcome: 'refused', code, detail } }
  if (NOT_DONE.test(fault)) return { failed: neverLeft('helper_down', detail) }
  if (status === 500 && NO_HANDLE.test(fault))
    return { failed: { outcome: 'refused', code: 'no_handle', detail, tryNextService: true } }
  return { failed: unknown(code, detail) }
}

/** Like `readSendAnswer`, for an answer without a message. */
export function failureOf(answer: MacAnswer): SendFailure {
  const sent = readSendAnswer({ ...answer, data: undefined })
  return 'failed' in sent ? sent.failed : unknown('garbled', 'The server reported success without a result')
}

/** Translates the error number in a message's row. */
export function refusalOf(error: number): SendFailure {
  const known: Record<number, string> = {
    [NOT_IMESSAGE]: 'The recipient is not on iMessage',
    4: 'Apple did not accept the message in time',
  }
  return {
    outcome: 'refused',
    code: `imessage_${error}`,
    detail: known[error] ?? `Messages shows "Not Delivered" (error ${error})`,
    ...(error === NOT_IMESSAGE ? { tryNextService: true } : {}),
  }
}

/** Failure of the request that sends the message: without an answer the outcome is unknown. */
export function failureDuringSend(error: unknown): SendFailure {
  if (!(error instanceof NoAnswer)) throw error
  return error.left
    ? unknown('no_answer', error.message)
    : neverLeft('unreachable', `The Mac cannot be reached: ${error.message}`)
}

/** The media of a message could not be read. */
export class MediaFault extends Error {
  constructor(readonly reason: unknown) {
    super('The media could not be read')
  }
}

/**
 * Failure before the sending request. Any other error is a bug in the driver and proves nothing about the message,
 * so it is thrown on.
 */
export function failureBeforeSend(error: unknown): SendFailure {
  if (error instanceof NoAnswer)
    return neverLeft('unreachable', `The Mac cannot be reached: ${error.message}`)
  if (error instanceof MacFault) {
    const failed = failureOf(error.answer)
    return failed.outcome === 'refused' ? failed : neverLeft(failed.code, error.message)
  }
  if (!(error instanceof MediaFault)) throw error
  const { reason } = error
  return reason instanceof AppError && reason.code !== 'unavailable'
    ? { outcome: 'refused', code: 'media', detail: `The media ${reason.message}` }
    : neverLeft('media', error.message)
}

export function neverLeft(code: string, detail: string, retryAfterMs?: number): SendFailure {
  return { outcome: 'never-left', code, detail, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

export function refused(code: string, detail: string): SendFailure {
  return { outcome: 'refused', code, detail }
}

export function unknown(code: string, detail: string): SendFailure {
  return { outcome: 'unknown', code, detail }
}

/** The first message in the answer to /chat/new. */
export function firstMessageIn(data: unknown): unknown {
  const { messages } = fieldsOf(data)
  return Array.isArray(messages) ? messages[0] : undefined
}
