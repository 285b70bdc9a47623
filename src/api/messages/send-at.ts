import { parseTime } from '../../base/time.js'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { checkSendAt } from '../../services/messages/send-at.js'
import type { RequestIdentity } from '../../services/replay.js'
import { optional, string } from '../http/schemas.js'

export const SendAtInput = optional(
  string(
    'When to send it, ISO 8601 with Z or an offset, up to 366 days ahead; it is REGISTERED until then. Left out, or within the next second: now',
    { examples: ['2027-01-31T09:30:00Z'] },
  ),
)

/** The time a caller chose, if any. A date alone names no moment. */
export function sendAtOf(ctx: Ctx, text: string | undefined, request: RequestIdentity): number | undefined {
  if (text === undefined) return undefined
  const sendAt = text.length > 10 ? parseTime(text) : undefined
  if (sendAt === undefined) {
    throw new AppError(
      'invalid',
      'send_at: must be an ISO 8601 date and time with Z or an offset, like 2027-01-31T09:30:00Z',
    )
  }
  checkSendAt(ctx, sendAt, request)
  return sendAt
}
