import type { NewEvent } from '../../core/events/event.js'
import type { Line } from '../../core/lines/line.js'
import { codeIn, verificationEvent } from '../../core/verify/verification.js'
import type { Inbound } from '../../drivers/inbound.js'
import type { Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import {
  approveVerification,
  expireVerifications,
  findNextExpiry,
} from '../../storage/verify/verifications.js'
import type { Ctx } from '../ctx.js'

const AT_ONCE = 50

/**
 * Approves the verification that an inbound text answers: the sender must be the person asked, and the text must be
 * only the code. The caller appends the event in the same transaction, after the event of the message.
 */
export async function approveByText(
  sql: Sql,
  line: Line,
  { from, content, group }: Inbound,
  now: number,
): Promise<NewEvent | undefined> {
  // A message to a group is not a text to the pool number.
  const code = group ? undefined : codeIn(content)
  const approved = code && (await approveVerification(sql, line.id, from, code, now))
  return approved ? verificationEvent(approved) : undefined
}

export async function expireVerificationsDue(ctx: Ctx): Promise<void> {
  const due = async () => ((await findNextExpiry(ctx.db)) ?? Number.POSITIVE_INFINITY) <= ctx.clock.now()
  while (await due()) {
    await ctx.db.tx(async (sql) => {
      const ended = await expireVerifications(sql, ctx.clock.now(), AT_ONCE)
      await appendEvents(sql, ended.map(verificationEvent))
    })
  }
}
