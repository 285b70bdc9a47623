import { AppError } from '../../core/errors.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import type { SendResult } from '../../core/messages/outcome.js'
import { fieldsOf } from './json.js'
import { MacFault, type Said } from './mac.js'
import { type Row, readRow } from './reading/rows.js'

export type Failed = Exclude<SendResult, { outcome: 'accepted' }>

/** What came of asking the server to send: a message in the Mac's database, or why there is none that we know. */
export type Taken = { row: Row } | { failed: Failed; isChatGone?: true }

/** Apple's number for: this person is not on iMessage. */
const NOT_IMESSAGE = 22
const NOT_DONE = /private api (?:is not enabled|helper is not connected)/i
const CHAT_GONE = /chat does not exist/i
const NO_HANDLE = /(?:find|get).{0,40}handle/i
const IN_FLIGHT = /already queued|already in (?:the )?queue/i

/** Reads the answer to a send. A success says that there is a row, and nothing more. */
export function takenOf(said: Said, rowIn: (data: unknown) => unknown = (data) => data): Taken {
  const { status, fault } = said
  const row = readRow(rowIn(said.data))
  // An answer of a failed send has the failed message in it.
  if (row && row.error !== 0) return { failed: refusedBy(row.error) }
  if (status === 200 && said.isEnvelope) {
    if (row) return { row }
    return { failed: unknown('garbled', 'The server said that it sent the message and not which one') }
  }
  const detail = fault || `The server answered with HTTP ${status}`
  const code = `http_${status}`
  if (status === 401 || status === 403 || status === 407) return { failed: neverLeft(code, detail) }
  if (status === 429) return { failed: neverLeft(code, detail) }
  if (status >= 300 && status < 400)
    return { failed: neverLeft(code, 'The address answers with a redirect; is it the server on the Mac?') }
  if (status === 400 && IN_FLIGHT.test(fault)) return { failed: unknown('in_flight', detail) }
  if (CHAT_GONE.test(fault) || (status === 404 && said.isEnvelope))
    return { failed: neverLeft('no_chat', detail), isChatGone: true }
  if (status >= 400 && status < 500 && status !== 408) return { failed: { outcome: 'refused', code, detail } }
  if (NOT_DONE.test(fault)) return { failed: neverLeft('helper_down', detail) }
  if (status === 500 && NO_HANDLE.test(fault))
    return { failed: { outcome: 'refused', code: 'no_handle', detail, tryNextService: true } }
  return { failed: unknown(code, detail) }
}

/** The same for an answer that has no message in it. */
export function failureOf(said: Said): Failed {
  const taken = takenOf({ ...said, data: undefined })
  return 'failed' in taken ? taken.failed : unknown('garbled', 'The answer makes no sense')
}

/** What a number in a message's row says. */
export function refusedBy(error: number): Failed {
  const known: Record<number, string> = {
    [NOT_IMESSAGE]: 'The recipient is not on iMessage',
    4: 'Apple did not take the message in time',
  }
  return {
    outcome: 'refused',
    code: `imessage_${error}`,
    detail: known[error] ?? `Messages shows that it was not delivered (error ${error})`,
    ...(error === NOT_IMESSAGE ? { tryNextService: true } : {}),
  }
}

/** What broke while the server was being asked to send. */
export function brokenOff(error: unknown): Failed {
  if (!(error instanceof NoAnswer)) throw error
  return error.left
    ? unknown('no_answer', error.message)
    : neverLeft('unreachable', `The Mac cannot be reached: ${error.message}`)
}

/** The file of a message could not be read. */
export class MediaFault extends Error {
  constructor(readonly reason: unknown) {
    super('The media could not be read')
  }
}

/** What went wrong before anything was sent. Anything else than these is a fault of ours, and no proof of that. */
export function notBegun(error: unknown): Failed {
  if (error instanceof NoAnswer)
    return neverLeft('unreachable', `The Mac cannot be reached: ${error.message}`)
  if (error instanceof MacFault) {
    const failed = failureOf(error.said)
    return failed.outcome === 'refused' ? failed : neverLeft(failed.code, error.message)
  }
  if (!(error instanceof MediaFault)) throw error
  const { reason } = error
  return reason instanceof AppError && reason.code !== 'unavailable'
    ? { outcome: 'refused', code: 'media', detail: `The media ${reason.message}` }
    : neverLeft('media', error.message)
}

export function neverLeft(code: string, detail: string, retryAfterMs?: number): Failed {
  return { outcome: 'never-left', code, detail, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

export function refused(code: string, detail: string): Failed {
  return { outcome: 'refused', code, detail }
}

export function unknown(code: string, detail: string): Failed {
  return { outcome: 'unknown', code, detail }
}

/** The message that a new chat was opened with. */
export function firstMessageIn(data: unknown): unknown {
  const { messages } = fieldsOf(data)
  return Array.isArray(messages) ? messages[0] : undefined
}
