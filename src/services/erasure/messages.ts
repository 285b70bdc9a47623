import type { Erasure } from '../../core/erasure/erasure.js'
import { MESSAGE_ERROR } from '../../core/errors.js'
import { copyIdOf, mediaNamesIn } from '../../core/media/media.js'
import type { Message } from '../../core/messages/message.js'
import { failMessage } from '../../core/messages/outcome.js'
import type { Sql } from '../../storage/engine/db.js'
import { insertErasureMedia } from '../../storage/erasure/media.js'
import { hasOpenCall, listAccountIds, listMessagesWith } from '../../storage/erasure/messages.js'
import { listMediaNames } from '../../storage/media/media.js'
import { findNextAttempts } from '../../storage/messages/attempts.js'
import { countMessages } from '../../storage/messages/messages.js'
import { lockFreeMessages, removeMessages } from '../../storage/messages/removal.js'
import { findFeed, lockFeed } from '../../storage/webhooks/feeds.js'
import { eraseDeliveries } from '../../storage/webhooks/log.js'
import type { Ctx } from '../ctx.js'
import { saveChanges } from '../messages/changes.js'
import { RETRY_WINDOW_MS } from '../replay.js'
import { saveTurn, type Turn } from './turn.js'

const AT_ONCE = 100
const ACCOUNTS_AT_ONCE = 200
/** How often an erasure looks whether messages and calls under way have ended. */
const WAIT_MS = 30_000

const NOT_SENT = {
  code: MESSAGE_ERROR.failed,
  reason: 'erased',
  message: 'The recipient was erased before the message was sent',
  detail: null,
}

/**
 * Removes the messages with the person, account by account. Waiting messages end as errors at once. A message that is on
 * the wire stays until it has ended, and every message for ten minutes after its last change: until then a repeated
 * request or a copy from the carrier is recognised by it.
 */
export async function eraseMessages(ctx: Ctx, turn: Turn): Promise<Erasure> {
  const { handle } = turn.person
  const until = turn.erasure.requestedAt
  const [account = '', id = 0, waited = 0] = turn.erasure.place as [string?, number?, number?]
  const accounts = await listAccountIds(ctx.db, turn.scope, account, ACCOUNTS_AT_ONCE)
  const after = { accountId: account, id }
  const found = await listMessagesWith(ctx.db.aside('erasure'), accounts, { handle, until, after }, AT_ONCE)
  return ctx.db.tx(async (sql) => {
    const ids = found.map((one) => one.id)
    const removed = ids.length > 0 ? await eraseSome(ctx, sql, turn, ids) : 0
    const waiting = waited + ids.length - removed
    const counts = { messages: removed }
    const last = found.at(-1)
    if (last && found.length === AT_ONCE)
      return saveTurn(sql, turn, { place: [last.accountId, last.id, waiting], counts })
    if (accounts.length === ACCOUNTS_AT_ONCE)
      return saveTurn(sql, turn, { place: [accounts.at(-1)!, Number.MAX_SAFE_INTEGER, waiting], counts })
    if (waiting === 0 && !(await hasOpenCall(sql, handle, until)))
      return saveTurn(sql, turn, { place: undefined, counts })
    const changes = { state: 'waiting', dueAt: ctx.clock.now() + WAIT_MS } as const
    return saveTurn(sql, turn, { place: [], counts, changes })
  })
}

/** Returns the number of removed messages. */
async function eraseSome(ctx: Ctx, sql: Sql, turn: Turn, ids: readonly number[]): Promise<number> {
  const now = ctx.clock.now()
  const messages = await lockFreeMessages(sql, ids)
  await failWaiting(sql, messages, now)
  const gone = messages.filter(
    ({ nextActionAt, updatedAt }) => nextActionAt === null && updatedAt <= now - RETRY_WINDOW_MS,
  )
  if (gone.length === 0) return 0
  const shown = gone.flatMap(({ mediaUrl, extra }) => mediaNamesIn(`${mediaUrl} ${JSON.stringify(extra)}`))
  const copies = await listMediaNames(
    sql,
    gone.map(({ handle }) => copyIdOf(handle)),
  )
  await insertErasureMedia(sql, turn.erasure.id, [...shown, ...copies])
  await removeMessages(
    sql,
    gone.map(({ id }) => id),
  )
  for (const accountId of new Set(gone.map((message) => message.accountId)))
    await eraseWebhooks(
      sql,
      accountId,
      gone.filter((message) => message.accountId === accountId),
      now,
    )
  await countMessages(
    sql,
    gone.filter(({ deletedAt }) => deletedAt === null),
    -1,
  )
  return gone.length
}

/** A message that is on the wire by now does not wait any more. */
async function failWaiting(sql: Sql, messages: readonly Message[], now: number): Promise<void> {
  const waiting = messages.filter(({ nextActionAt, status }) => nextActionAt !== null && status !== 'PENDING')
  if (waiting.length === 0) return
  const attempts = await findNextAttempts(sql, waiting)
  const unsent = waiting.filter(({ id }) => attempts.get(id)?.state !== 'on_wire')
  await saveChanges(
    sql,
    unsent.map((before) => ({ before, after: failMessage(before, now, NOT_SENT) })),
  )
}

async function eraseWebhooks(sql: Sql, accountId: string, messages: readonly Message[], now: number) {
  if (!(await findFeed(sql, accountId))) return
  const handles = messages.map(({ handle }) => handle)
  // With the commit, after deliveries that are being made from these messages; none is made after it.
  await sql.atCommit(async (last) => {
    await lockFeed(last, accountId)
    await eraseDeliveries(last, accountId, handles, now)
  })
}
