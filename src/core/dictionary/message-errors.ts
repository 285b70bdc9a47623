import type { MESSAGE_ERROR } from '../errors.js'
import type { Entry } from './entry.js'

type Code = (typeof MESSAGE_ERROR)[keyof typeof MESSAGE_ERROR]

/** `error_code` of messages and of answers about messages. */
export const MESSAGE_ERRORS: Readonly<Record<Code, Entry>> = {
  4000: {
    means: 'The request about a message was refused. No message was sent.',
    why: 'A field is missing or wrong, or the message or line does not exist.',
    next: 'Read error_message. Correct the request; repeating it as it is does not help.',
  },
  4001: {
    means: 'Too many requests or messages. No message was sent.',
    why: 'The account has used up a budget.',
    next: 'Wait as long as the header Retry-After says, then repeat the request.',
  },
  4002: {
    means: 'The recipient must not be written to.',
    why: 'The person texted STOP to this line or was opted out through the API.',
    next: 'Do not write to this number until the person texts START to the line.',
  },
  5000: {
    means: 'The server could not take the request.',
    why: 'It is overloaded or stopping, or it made a mistake that its log describes.',
    next: 'Repeat the request with the same Idempotency-Key after Retry-After.',
  },
  5003: {
    means: 'The line sends more slowly than messages arrive.',
    why: 'Reserved: existing clients know this code. Trunkline answers 503 with Retry-After instead.',
    next: 'Wait, then repeat the request.',
  },
  10001: {
    means: 'The message failed and is not retried.',
    why: 'The carrier refused it or could not deliver it, its media could not be sent, the line was unreachable, blocked or removed, or the message was canceled. error_reason says which.',
    next: 'Ask "trunkline why" or GET /v3/messages/{handle}/why. It names the cause and the next step.',
  },
  10002: {
    means: 'It is not known whether the message was sent.',
    why: 'The connection to the carrier ended before its answer, and the carrier cannot tell what happened. Trunkline does not send again by itself, because the person could get the message twice.',
    next: 'Ask the recipient, or look at the phone, before you send it again. A late receipt still corrects the status.',
  },
}
