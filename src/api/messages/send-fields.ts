import type { FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import { parseTime } from '../../base/time.js'
import { AppError } from '../../core/errors.js'
import type { AcceptedSend, Ctx } from '../../services/ctx.js'
import type { SendRequest } from '../../services/messages/outbound.js'
import { checkSendAt } from '../../services/messages/send-at.js'
import type { RequestIdentity } from '../../services/replay.js'
import { showQueue } from '../http/errors.js'
import { checkUrl, requirePhone } from '../http/fields.js'
import { optional, string } from '../http/schemas.js'
import { ReplyToInput, replyToOf, SendStyleSchema } from './wire-parts.js'

/** Maximum characters of a text; the interface says "fewer than 18996". */
const MAX_CONTENT = 18_995

const SendAtInput = optional(
  string(
    'When to send the message, ISO 8601 (UTC unless it names a zone), up to 366 days ahead; its status is REGISTERED until then. Default: now',
    { examples: ['2027-01-31T09:30:00Z'] },
  ),
)

/** Fields of sends, whether text, group message or carousel. Each route picks its fields. */
export const SEND_FIELDS = {
  number: string('Recipient, E.164', { examples: ['+12025550101'] }),
  from_number: string('The line to send from, E.164', { examples: ['+12025550100'] }),
  content: optional(
    string('Text; required unless media_url or app_card is given', { maxLength: MAX_CONTENT }),
  ),
  media_url: optional(string('HTTPS URL of the media to attach')),
  send_style: optional(SendStyleSchema),
  status_callback: optional(string('HTTPS URL that receives every status change of this message')),
  reply_to: optional(ReplyToInput),
  seat_id: optional(
    string('Sending seat: its id, or its subject at an outside identity provider', { minLength: 1 }),
  ),
  send_at: SendAtInput,
}

/** Older names of the fields. */
export const SEND_ALIASES = {
  number: ['recipient', 'to', 'to_number'],
  from_number: ['fromNumber', 'from', 'sendblue_number'],
  media_url: ['mediaUrl', 'mediaURL'],
  send_style: ['sendStyle'],
  status_callback: ['statusCallback'],
} as const

const Choices = Type.Object(SEND_FIELDS)

/** The caller's fields, checked as far as possible without the line. */
export function sendRequestOf(
  ctx: Ctx,
  body: Omit<Static<typeof Choices>, 'number'>,
  identity: RequestIdentity,
): SendRequest {
  checkUrl(ctx, 'media_url', body.media_url)
  checkUrl(ctx, 'status_callback', body.status_callback)
  return {
    fromNumber: requirePhone('from_number', body.from_number),
    content: body.content ?? '',
    mediaUrl: body.media_url ?? '',
    sendStyle: body.send_style ?? '',
    statusCallback: body.status_callback || null,
    replyTo: replyToOf(body.reply_to),
    seatId: body.seat_id ?? null,
    sendAt: sendAtOf(ctx, body.send_at, identity),
  }
}

/** The scheduled send time; undefined sends immediately. A date without a time is refused. */
function sendAtOf(ctx: Ctx, text: string | undefined, request: RequestIdentity): number | undefined {
  if (text === undefined) return undefined
  const sendAt = text.length > 10 ? parseTime(text) : undefined
  if (sendAt === undefined) {
    throw new AppError(
      'invalid',
      'send_at: must be an ISO 8601 date and time, like 2027-01-31T09:30:00Z; without a zone it is UTC',
    )
  }
  checkSendAt(ctx, sendAt, request)
  return sendAt
}

/** 202: the message is stored. A header marks the answer to a repeated request. */
export function markAccepted(reply: FastifyReply, { replayed, queue }: AcceptedSend): void {
  if (replayed) reply.header('x-idempotent-replay', 'true')
  if (queue) showQueue(reply, queue)
  reply.code(202)
}
