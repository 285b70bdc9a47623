import type { Message } from '../../core/messages/message.js'
import type { Reads, Sql } from '../engine/db.js'
import { toMessage } from './rows.js'

/** A place in the order of last changes. */
export interface ChangePlace {
  at: number
  id: number
}

export type UnchangedMessage = Pick<Message, 'id' | 'status' | 'updatedAt' | 'nextActionAt' | 'dueAt'>

/**
 * Messages of an account that have not changed since `until`, after a place, in the order of their last changes. Those
 * that the account deleted have an index of their own.
 */
export async function listUnchanged(
  sql: Reads,
  accountId: string,
  until: number,
  after: ChangePlace,
  limit: number,
): Promise<UnchangedMessage[]> {
  const list = (deleted: string) =>
    sql.all<UnchangedMessage>(
      `select id, status, updated_at as "updatedAt", next_action_at as "nextActionAt", due_at as "dueAt" from messages
       where account_id = $1 and deleted_at ${deleted} and updated_at <= $2 and (updated_at, id) > ($3, $4)
       order by updated_at, id limit ${limit}`,
      [accountId, until, after.at, after.id],
    )
  const messages = [...(await list('is null')), ...(await list('is not null'))]
  return messages.sort((a, b) => a.updatedAt - b.updatedAt || a.id - b.id).slice(0, limit)
}

/** Like `lockMessages`, without messages that another transaction has locked. */
export async function lockFreeMessages(sql: Sql, ids: readonly number[]): Promise<Message[]> {
  const list = sql.inIds(1, ids)
  const lock = sql.engine === 'postgres' ? 'for update skip locked' : ''
  const rows = await sql.all(`select * from messages where id ${list.sql} order by id ${lock}`, [list.param])
  return rows.map(toMessage)
}

/** Deletes messages and their attempts. The totals change with `countMessages`. */
export async function removeMessages(sql: Sql, ids: readonly number[]): Promise<void> {
  const list = sql.inIds(1, ids)
  // In their order, without waiting for each.
  await Promise.all([
    removeAttempts(sql, ids),
    sql.run(`delete from messages where id ${list.sql}`, [list.param]),
  ])
}

/** Deletes the attempts of messages, with their parts and echoes. Returns the number of attempts. */
export async function removeAttempts(sql: Sql, ids: readonly number[]): Promise<number> {
  const list = sql.inIds(1, ids)
  const refs = `select ref from attempts where message_id ${list.sql}`
  const counts = await Promise.all([
    sql.run(`delete from attempt_parts where ref in (${refs})`, [list.param]),
    sql.run(`delete from echoes where ref in (${refs})`, [list.param]),
    sql.run(`delete from attempts where message_id ${list.sql}`, [list.param]),
  ])
  return counts[2]
}
