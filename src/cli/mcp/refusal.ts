import { AnswerLost, ApiError } from '../client.js'

/** Something that was not done, in words that a model can act on. */
export class Refusal extends Error {
  constructor(
    readonly code: RefusalCode,
    message: string,
    /** What to do now. */
    readonly hint: string,
    readonly more: Record<string, unknown> = {},
  ) {
    super(message)
  }
}

export const REFUSALS = {
  invalid_input: 'The call was wrong: correct what the message names and call again.',
  recipient_not_allowed: 'This server may not write to that person.',
  rate_limited: 'A cap on sends is reached; it says when there is room again.',
  opted_out: 'The person does not want messages. Nobody may write to them.',
  not_found: 'There is no such contact, message, group or line.',
  conflict: 'It exists already, or the idempotency key was used for another call.',
  unauthorized: 'The key or token of this server is not accepted: its operator must set another.',
  forbidden: 'The key or token of this server may not do that.',
  server_unreachable: 'Trunkline does not answer. The same call can be made again: nothing is sent twice.',
  server_error: 'Trunkline failed. The same call can be made again: nothing is sent twice.',
} as const
export type RefusalCode = keyof typeof REFUSALS

const AGAIN = 'Make exactly the same call again in a while: a message is not sent twice.'

/** What a failed call of the API means to a model. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (!(error instanceof ApiError)) {
    const words = error instanceof Error ? error.message : String(error)
    return new Refusal('server_error', words, 'Tell the user; this should not happen.')
  }
  const { message, status } = error
  const more = error.retryAfterS === undefined ? {} : { retry_after_seconds: error.retryAfterS }
  if (status === undefined) {
    const words = error instanceof AnswerLost ? 'The connection broke before the answer came.' : message
    return new Refusal('server_unreachable', words, AGAIN)
  }
  switch (status) {
    case 401:
      return new Refusal('unauthorized', message, 'Do not try again. Tell the user to correct the key.')
    case 403:
      return new Refusal('forbidden', message, 'Do not try again. Tell the user what was refused.')
    case 404:
      return new Refusal('not_found', message, 'Check the number or id; list_contacts shows contacts.')
    case 409:
      return new Refusal('conflict', message, 'Read what is there before trying anything else.')
    case 422:
      return new Refusal(
        'conflict',
        message,
        'Leave idempotency_key out, or use a new one for a new message.',
      )
    case 429:
      return new Refusal('rate_limited', message, 'Wait as long as it says, then make the same call.', more)
  }
  if (status >= 500) return new Refusal('server_error', message, AGAIN, more)
  return new Refusal('invalid_input', message, 'Correct what the message names and call again.')
}
