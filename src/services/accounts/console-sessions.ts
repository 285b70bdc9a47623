import type { Key } from '../../core/accounts/account.js'
import {
  type ConsoleSession,
  SESSION_LENGTHS,
  SESSION_LIFE_MS,
  sessionText,
} from '../../core/accounts/console-session.js'
import { topics } from '../../core/topics.js'
import { deleteSession, insertSession, saveSessionUse } from '../../storage/accounts/console-sessions.js'
import type { Ctx } from '../ctx.js'
import { hashSecret } from './accounts.js'
import { requireAccount } from './present.js'

/** Precision of the last use. */
const USE_MS = 300_000

/**
 * Signs in with a key. The new session takes over the other key of a previous session and ends it: the rights grow,
 * so the old session id must not stay valid. Only this answer has the session id in plain text.
 */
export async function openSession(
  ctx: Ctx,
  key: Key,
  before: ConsoleSession | undefined,
): Promise<{ session: ConsoleSession; text: string }> {
  const now = Date.now()
  const secret = ctx.random.text(SESSION_LENGTHS.secret)
  const session: ConsoleSession = {
    id: ctx.random.text(SESSION_LENGTHS.id),
    accountKeyId: key.kind === 'admin' ? (before?.accountKeyId ?? null) : key.id,
    adminKeyId: key.kind === 'admin' ? key.id : (before?.adminKeyId ?? null),
    createdAt: now,
    usedAt: now,
    expiresAt: now + SESSION_LIFE_MS,
  }
  await ctx.db.tx(async (sql) => {
    if (key.accountId !== null) await requireAccount(sql, key.accountId)
    await insertSession(sql, session, hashSecret(secret))
    if (before) await deleteSession(sql, before.id)
  })
  if (before) accessChanged(ctx)
  return { session, text: sessionText(session.id, secret) }
}

/** Signs out, and ends the session's open streams in every process. */
export async function closeSession(ctx: Ctx, id: string): Promise<void> {
  await ctx.db.tx((sql) => deleteSession(sql, id))
  accessChanged(ctx)
}

function accessChanged(ctx: Ctx): void {
  ctx.directory.forget()
  ctx.wakes.wake(topics.access)
}

/** Records the last use in the background. */
export function noteUse(ctx: Ctx, session: ConsoleSession): void {
  const now = Date.now()
  if (now - session.usedAt < USE_MS) return
  session.usedAt = now
  ctx.errand(() => ctx.db.tx((sql) => saveSessionUse(sql, session.id, now))).catch(() => {})
}
