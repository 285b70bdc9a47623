import type { Message, NewMessage } from '../../core/messages/message.js'
import { addToTotals, sumByAccount } from '../accounts/budgets.js'
import { keepUsage } from '../accounts/usage.js'
import type { Param, Sql, Writes } from '../engine/db.js'
import { findValue, listValues } from '../engine/query.js'
import type { FailedAttempt } from './attempts.js'
import { createTally, saveTally } from './counts.js'
import { MESSAGE_COLUMNS as COLUMNS, fromMessage, toMessage } from './rows.js'

const CHANGING = COLUMNS.filter((column) => column.changes)

export async function insertMessages(sql: Writes, messages: readonly NewMessage[]): Promise<void> {
  await insertGiven(sql, messages.map(fromMessage))
}

/** Adds new messages to the totals; -1 removes deleted ones, of which only the usage stays. */
export async function countMessages(
  sql: Writes,
  messages: readonly NewMessage[],
  n: 1 | -1 = 1,
): Promise<void> {
  const tally = createTally()
  for (const message of messages) tally.add(message, n)
  await saveTally(sql, tally)
  if (n === -1)
    await keepUsage(
      sql,
      messages.map((message) => [message, 1] as const),
    )
  const scheduled = messages.filter(({ dueAt }) => dueAt !== null)
  if (scheduled.length > 0)
    await addToTotals(
      sql,
      'scheduled',
      sumByAccount(scheduled, () => n),
    )
}

/** Each set of columns is a prepared statement; beyond this many sets, rows are written with all columns. */
const MAX_SHAPES = 64
const shapes = new Set<string>()
const ALL = COLUMNS.map((_, i) => i)

/** Omits columns that are null in every row: most messages have a third of their columns empty. */
async function insertGiven(sql: Writes, rows: Param[][]): Promise<void> {
  const given = ALL.filter((i) => rows.some((row) => row[i] !== null))
  const shape = given.join()
  if (shapes.size < MAX_SHAPES) shapes.add(shape)
  const used = shapes.has(shape) ? given : ALL
  const columns = Object.fromEntries(used.map((i) => [COLUMNS[i]!.name, COLUMNS[i]!.type]))
  await sql.insertMany(
    'messages',
    columns,
    rows.map((row) => used.map((i) => row[i]!)),
  )
}

export interface Change {
  before: Message
  /** Intermediate states, if one transaction moves the message by several steps. */
  via?: Message[]
  after: Message
  /** The attempt that the carrier had accepted and that failed, if the message goes on to another service. */
  failed?: FailedAttempt
}

/**
 * The version and handle that the message had. Fails the update with MissingValue if another transaction changed the
 * message in the meantime, or if the row is another message's: a database that lost commits uses their ids again.
 */
const VERSION = {
  type: 'text',
  as: "case when messages.version || ' ' || messages.handle = {version} then messages.version + 1 end",
} as const

/**
 * Writes only the changed columns: an index is updated only if the statement contains one of its columns. Messages
 * with the same changed columns share a statement. Fails with MissingValue if a message differs from `before`.
 */
export async function saveMessages(sql: Writes, changes: readonly Change[]): Promise<void> {
  const groups = new Map<string, { columns: number[]; rows: Param[][] }>()
  for (const { before, after } of changes) {
    const columns: number[] = []
    const row: Param[] = [after.id, `${before.version} ${before.handle}`]
    for (let i = 0; i < CHANGING.length; i++) {
      const value = CHANGING[i]!.of(after)
      if (value === CHANGING[i]!.of(before)) continue
      columns.push(i)
      row.push(value)
    }
    if (columns.length === 0) continue
    const signature = columns.join()
    const group = groups.get(signature)
    if (group) group.rows.push(row)
    else groups.set(signature, { columns, rows: [row] })
  }
  const updates = [...groups.values()].map(({ columns, rows }) => {
    const set = Object.fromEntries(columns.map((i) => [CHANGING[i]!.name, CHANGING[i]!.type]))
    return sql.updateMany('messages', { id: 'bigint' }, { version: VERSION, ...set }, rows)
  })
  await Promise.all(updates)
}

/** Moves changed messages in the totals, which deleted messages have left: those change the kept usage. */
export async function countChanges(sql: Writes, changes: readonly Change[]): Promise<void> {
  const tally = createTally()
  for (const { before, after } of changes) {
    if (before.deletedAt !== null) continue
    tally.add(before, -1)
    tally.add(after, 1)
  }
  await saveTally(sql, tally)
  const deleted = changes.filter(({ before }) => before.deletedAt !== null)
  if (deleted.length > 0)
    await keepUsage(
      sql,
      deleted.flatMap(({ before, after }) => [[before, -1] as const, [after, 1] as const]),
    )
  const ended = changes.filter(({ before, after }) => before.dueAt !== null && after.dueAt === null)
  if (ended.length > 0)
    await addToTotals(
      sql,
      'scheduled',
      sumByAccount(
        ended.map(({ after }) => after),
        () => -1,
      ),
    )
}

/** Hides a message from its account. The new version fails concurrent changes. */
export async function deleteMessage(sql: Sql, id: number, now: number): Promise<void> {
  await sql.run('update messages set deleted_at = $2, version = version + 1 where id = $1', [id, now])
}

/** A message that its account has not deleted. */
export async function findMessage(
  sql: Sql,
  handle: string,
  accountId?: string,
): Promise<Message | undefined> {
  const row = await sql.one('select * from messages where handle = $1 and deleted_at is null', [handle])
  if (!row || (accountId !== undefined && row.account_id !== accountId)) return undefined
  return toMessage(row)
}

/** Includes deleted messages, for internal use. */
export async function findMessagesByHandle(
  sql: Sql,
  handles: readonly string[],
): Promise<Map<string, Message>> {
  const list = sql.inList(1, handles)
  const rows = await sql.all(`select * from messages where handle ${list.sql}`, [list.param])
  return new Map(rows.map((row) => [row.handle as string, toMessage(row)]))
}

/** When the other side of a message last wrote to its line until this time. */
export async function findLastHeard(
  sql: Sql,
  { accountId, contact, lineId }: Pick<Message, 'accountId' | 'contact' | 'lineId'>,
  until: number,
): Promise<number | null> {
  const text = `select created_at from messages where account_id = $1 and contact = $2 and created_at <= $3
    and line_id = $4 and is_outbound = 0 and group_id is null order by created_at desc limit 1`
  return (await findValue<number>(sql, text, [accountId, contact, until, lineId])) ?? null
}

/** The trace context of a message's caller; null without one, or without the message. */
export async function findTrace(sql: Sql, accountId: string, handle: string): Promise<string | null> {
  const text = 'select trace from messages where handle = $1 and account_id = $2'
  return (await findValue<string>(sql, text, [handle, accountId])) ?? null
}

/** Which of these handles belong to no message any more, or to one that its account has deleted. */
export async function listGone(sql: Sql, handles: readonly string[]): Promise<string[]> {
  if (handles.length === 0) return []
  const list = sql.listTable(1, handles)
  return listValues(
    sql,
    `select j.value from ${list.sql} left join messages m on m.handle = j.value
     where m.id is null or m.deleted_at is not null`,
    [list.param],
  )
}

/** Fails with MissingValue if one of these messages was deleted or removed. */
export async function requireKept(sql: Writes, handles: readonly string[]): Promise<void> {
  if (handles.length === 0) return
  const list = sql.inList(1, handles)
  await sql.run(
    `insert into stale_writes (line_id) select cast(null as text)
     where (select count(*) from messages where handle ${list.sql} and deleted_at is null) < $2`,
    [list.param, handles.length],
  )
}

export async function findMessagesById(sql: Sql, ids: readonly number[]): Promise<Map<number, Message>> {
  return byIds(sql, ids, '')
}

/**
 * Locks messages until the transaction ends. Always taken before the account's event numbers, and in order of ids,
 * so that two transactions cannot deadlock.
 */
export async function lockMessages(sql: Sql, ids: readonly number[]): Promise<Map<number, Message>> {
  return byIds(sql, ids, sql.engine === 'postgres' ? 'order by id for update' : '')
}

async function byIds(sql: Sql, ids: readonly number[], tail: string): Promise<Map<number, Message>> {
  if (ids.length === 0) return new Map()
  const list = sql.inIds(1, ids)
  const rows = await sql.all(`select * from messages where id ${list.sql} ${tail}`, [list.param])
  return new Map(rows.map((row) => [row.id as number, toMessage(row)]))
}

/** Outbound messages of this account with this recipient and text since `since`, newest first. */
export async function listTwins(sql: Sql, message: NewMessage, since: number): Promise<Message[]> {
  const rows = await sql.all(
    `select * from messages where account_id = $1 and contact = $2 and created_at >= $3 and content = $4
       and is_outbound = 1 order by created_at desc, id desc limit 100`,
    [message.accountId, message.contact, since, message.content],
  )
  return rows.map(toMessage)
}

/** A text to a shared line may be a message of several accounts. */
export async function listInbound(sql: Sql, lineId: string, providerId: string): Promise<Message[]> {
  const text = 'select * from messages where line_id = $1 and provider_id = $2'
  return (await sql.all(text, [lineId, providerId])).map(toMessage)
}
