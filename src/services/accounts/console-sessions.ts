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

/** How exactly the last use is known. */
const USE_MS = 300_000

/**
 * Signs in with a key. A session before this one gives its other key and ends: what could be done grew, so what
 * was known of the old one must not count any more. The text exists in clear only here.
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
    await insertSession(sql, session, hashSecret(secret))
    if (before) await deleteSession(sql, before.id)
  })
  if (before) accessChanged(ctx)
  return { session, text: sessionText(session.id, secret) }
}

/** Signs out: open streams of the session end as well, in every process. */
export async function closeSession(ctx: Ctx, id: string): Promise<void> {
  await ctx.db.tx((sql) => deleteSession(sql, id))
  accessChanged(ctx)
}

function accessChanged(ctx: Ctx): void {
  ctx.directory.forget()
  ctx.wakes.wake(topics.access)
}

/** Notes that a session is in use, now and then; nobody waits for it. */
export function noteUse(ctx: Ctx, session: ConsoleSession): void {
  const now = Date.now()
  if (now - session.usedAt < USE_MS) return
  session.usedAt = now
  ctx.errand(() => ctx.db.tx((sql) => saveSessionUse(sql, session.id, now))).catch(() => {})
}
