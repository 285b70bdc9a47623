import { AnswerLost, ApiError } from '../client.js'

/** A call that was refused, in words that a model can act on. */
export class Refusal extends Error {
  constructor(
    readonly code: RefusalCode,
    message: string,
    /** The next step for the user. */
    readonly hint: string = 'Correct the call and try again.',
    readonly more: Record<string, unknown> = {},
  ) {
    super(message)
  }
}

export const REFUSALS = {
  invalid_input: 'The call is wrong: correct what the message names and call again.',
  recipient_not_allowed: 'This server may not write to that person.',
  rate_limited: 'A cap on sends is reached; the answer says when there is room again.',
  opted_out: 'The person does not want messages. Nobody may write to them.',
  not_found: 'There is no such contact, message, group or line.',
  conflict: 'It exists already, or the idempotency key was used for another call.',
  unauthorized: 'The key or token of this server is not accepted: its operator must set another.',
  forbidden: 'The key or token of this server may not do that.',
  server_unreachable: 'Trunkline does not answer. The call can be repeated: nothing is sent twice.',
  server_error: 'Trunkline failed. The call can be repeated: nothing is sent twice.',
} as const
export type RefusalCode = keyof typeof REFUSALS

const AGAIN = 'Make exactly the same call again in a while: a message is not sent twice.'

/** The refusals for statuses below 500, with their hints. */
const BY_STATUS: Readonly<Record<number, [RefusalCode, string]>> = {
  401: ['unauthorized', 'Do not try again. Tell the user to correct the key.'],
  403: ['forbidden', 'Do not try again. Tell the user what was refused.'],
  404: ['not_found', 'Check the number or id; list_contacts shows contacts.'],
  409: ['conflict', 'Read what exists before you try anything else.'],
  422: ['conflict', 'Leave idempotency_key out, or use a new one for a new message.'],
  429: ['rate_limited', 'Wait as long as the answer says, then repeat the call.'],
}

/** Explains a failed call of the API to a model. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (!(error instanceof ApiError)) {
    const words = error instanceof Error ? error.message : String(error)
    return new Refusal('server_error', words, 'Tell the user; this should not happen.')
  }
  const { message, status, retryAfterS } = error
  if (status === undefined) {
    const words = error instanceof AnswerLost ? 'The connection broke before the answer came.' : message
    return new Refusal('server_unreachable', words, AGAIN)
  }
  const more = retryAfterS === undefined ? {} : { retry_after_seconds: retryAfterS }
  const [code, hint] =
    status >= 500 ? (['server_error', AGAIN] as const) : (BY_STATUS[status] ?? ['invalid_input'])
  return new Refusal(code, message, hint, more)
}
