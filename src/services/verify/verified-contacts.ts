import { AppError } from '../../core/errors.js'
import type { Line } from '../../core/lines/line.js'
import { SHARED, scopeOf, type VerifiedContact } from '../../core/verify/verified-contact.js'
import { findContacts } from '../../storage/contacts/contacts.js'
import { findOptOuts } from '../../storage/contacts/opt-outs.js'
import type { Sql } from '../../storage/engine/db.js'
import { askVerifiedContact } from '../../storage/verify/verified-contacts.js'
import type { UsableLine } from '../accounts/directory.js'
import { txOf } from '../accounts/present.js'
import { addContact, isVisible, ownerOf } from '../contacts/contacts.js'
import type { Ctx } from '../ctx.js'
import { askOnShared } from '../messages/inbound/owner.js'
import { type Actor, linesOf, newOutbound, requireLine } from '../messages/outbound.js'
import type { RequestIdentity } from '../replay.js'

/** The shared line that the account has used longest. */
export async function sharedLineOf(ctx: Ctx, actor: Actor): Promise<Line | undefined> {
  const lines = [...(await linesOf(ctx, actor)).values()]
  return lines.find(({ line }) => line.kind === 'shared')?.line
}

/** Creates a pending contact of the shared line, or finds the existing one. */
export async function registerContact(
  ctx: Ctx,
  sql: Sql,
  actor: Actor,
  line: Line | undefined,
  number: string,
): Promise<VerifiedContact> {
  if (!line && actor.numbers)
    throw new AppError('forbidden', 'This token is confined to some lines, and none of them is shared')
  if (number === line?.number) throw new AppError('invalid', 'phone_number: this is the shared line itself')
  return askOnShared(sql, actor.account.id, line, number, ctx.clock.now())
}

/**
 * Sends a message that asks the contact to answer; the answer verifies the contact. Required on the free plan. A number
 * that is no contact yet becomes one. For a limited token, a contact of another line is as good as none.
 */
export async function verifyContact(
  ctx: Ctx,
  actor: Actor,
  number: string,
  request: RequestIdentity,
): Promise<void> {
  const { account } = actor
  const contact = (await findContacts(ctx.db, account.id, 'phone', [number])).get(number)
  const from = await lineFor(ctx, actor, contact && isVisible(actor, contact) ? contact.lineNumber : null)
  if (number === from.line.number)
    throw new AppError('invalid', 'Cannot send messages to self: number is the line itself')
  const recipient = { accountId: account.id, contact: number, lineId: from.line.id }
  if ((await findOptOuts(ctx.db, ctx.marks, [recipient]))(recipient))
    throw new AppError('forbidden', 'number: this contact has opted out of messages from this account')
  const owner = await ownerOf(ctx, actor)
  await txOf(ctx, account.id, async (sql) => {
    const now = ctx.clock.now()
    if (!contact) await addContact(ctx, sql, owner, number, from.line.number)
    const scope = scopeOf(from.line)
    if (scope === SHARED) await askOnShared(sql, account.id, from.line, number, now)
    else await askVerifiedContact(sql, account.id, number, scope, now, false)
  })
  const message = newOutbound(ctx, account, from, {
    contact: number,
    content: `${account.name || account.email} would like to send you messages. Please answer this one, with any words, to confirm that this is your number.`,
  })
  await ctx.acceptance.accept(message, request)
}

/** The contact's line if it can send, else the account's first line that can, dedicated lines before shared ones. */
async function lineFor(ctx: Ctx, actor: Actor, chosen: string | null): Promise<UsableLine> {
  const lines = await linesOf(ctx, actor)
  const all = [...lines.values()]
  const free = all.filter(({ line }) => line.blockedAt === null)
  const from =
    free.find(({ line }) => line.number === chosen) ??
    free.find(({ line }) => line.kind === 'dedicated') ??
    free[0] ??
    (chosen ? lines.get(chosen) : undefined) ??
    all[0]
  if (!from) throw new AppError('invalid', 'This account has no line to send the verification message from')
  // Throws an error that says so if every line is blocked.
  return requireLine(ctx, actor, from.line.number)
}
