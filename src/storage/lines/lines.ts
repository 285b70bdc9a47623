import type { Line } from '../../core/lines/line.js'
import type { Reads, Sql, Writes } from '../engine/db.js'
import { exists, findValue, forUpdate, hasChanged, listValues } from '../engine/query.js'
import { table } from '../engine/table.js'

export const LINES = table<Line>()('lines', {
  text: 'id network number kind accountId poolId driver paceUnit onUnknown consentReplies stopText startText helpText',
  number: 'pace dailyLimit settleMs loopLimit createdAt blockedAt resets revision',
  json: 'config',
})

export async function insertLine(sql: Sql, line: Line): Promise<void> {
  await LINES.insert(sql, line)
}

const CHANGING =
  'config pace paceUnit dailyLimit onUnknown settleMs consentReplies stopText startText helpText loopLimit revision'

export async function saveLine(sql: Sql, line: Line): Promise<void> {
  await LINES.update(sql, [line], 'id', CHANGING)
}

export function findLine(sql: Sql, id: string): Promise<Line | undefined> {
  return LINES.find(sql, 'id = $1 and removed_at is null', [id])
}

/** Like `findLine`, and locks the line until the commit. */
export function findLineToChange(sql: Sql, id: string): Promise<Line | undefined> {
  return LINES.find(sql, `id = $1 and removed_at is null ${forUpdate(sql)}`, [id])
}

export function findLineByNumber(sql: Sql, network: string, number: string): Promise<Line | undefined> {
  return LINES.find(sql, 'network = $1 and number = $2 and removed_at is null', [network, number])
}

/** Prevents removal of a line until the commit; returns whether the line exists. */
export function holdLine(sql: Sql, id: string): Promise<boolean> {
  const lock = sql.engine === 'postgres' ? 'for share' : ''
  return exists(sql, `select 1 from lines where id = $1 and removed_at is null ${lock}`, [id])
}

/** Like `findLine`, including removed lines. */
export function findLineEver(sql: Sql, id: string): Promise<Line | undefined> {
  return LINES.find(sql, 'id = $1', [id])
}

/** Whether the line's world was not reset since the line was read. */
export async function isCurrent(sql: Sql, line: Pick<Line, 'id' | 'resets'>): Promise<boolean> {
  return (await findValue(sql, 'select resets from lines where id = $1', [line.id])) === line.resets
}

/**
 * Like `isCurrent`, as a condition of the transaction, which fails with MissingValue. Best as its last statement.
 */
export async function requireCurrent(sql: Writes, lines: Iterable<Pick<Line, 'id' | 'resets'>>) {
  for (const { id, resets } of lines) {
    await sql.run(
      `insert into stale_writes (line_id) select cast(null as text)
       where not exists (select 1 from lines where id = $1 and resets = $2)`,
      [id, resets],
    )
  }
}

/** The numbers that are lines. */
export async function listLineNumbers(
  sql: Sql,
  network: string,
  numbers: readonly string[],
): Promise<Set<string>> {
  const list = sql.inList(2, numbers)
  const text = `select number from lines where network = $1 and number ${list.sql} and removed_at is null`
  return new Set(await listValues<string>(sql, text, [network, list.param]))
}

/** All lines with this number, including removed ones, because messages outlive their line. */
export function listLineIds(sql: Sql, network: string, number: string): Promise<string[]> {
  return listValues(sql, 'select id from lines where network = $1 and number = $2', [network, number])
}

/** Whether a line reaches real phones. */
export function hasRealLines(sql: Sql): Promise<boolean> {
  return exists(sql, "select 1 from lines where driver <> 'simulator' and removed_at is null", [])
}

export async function countLines(sql: Sql): Promise<number> {
  return (await findValue<number>(sql, 'select count(*) from lines where removed_at is null', [])) ?? 0
}

export async function findLines(sql: Sql, ids: readonly string[]): Promise<Map<string, Line>> {
  const list = sql.inList(1, ids)
  const lines = await LINES.list(sql, `id ${list.sql} and removed_at is null`, [list.param])
  return new Map(lines.map((line) => [line.id, line]))
}

/** Numbers by id, also of removed lines. */
export async function findNumbersEver(sql: Reads, ids: readonly string[]): Promise<Map<string, string>> {
  const list = sql.inList(1, ids)
  const rows = await sql.all<{ id: string; number: string }>(
    `select id, number from lines where id ${list.sql}`,
    [list.param],
  )
  return new Map(rows.map(({ id, number }) => [id, number]))
}

/** Kinds of the drivers by id, also of removed lines. */
export async function findDriversEver(sql: Reads, ids: readonly string[]): Promise<Map<string, string>> {
  const list = sql.inList(1, ids)
  const rows = await sql.all<{ id: string; driver: string }>(
    `select id, driver from lines where id ${list.sql}`,
    [list.param],
  )
  return new Map(rows.map(({ id, driver }) => [id, driver]))
}

export function listLines(sql: Sql): Promise<Line[]> {
  return LINES.list(sql, 'removed_at is null order by created_at, id')
}

/** The lines that an account may use: its own, and the shared lines it is a member of. */
export function listLinesOf(sql: Sql, accountId: string): Promise<Line[]> {
  const members = 'select line_id from line_members where account_id = $1'
  const where = `removed_at is null and (account_id = $1 or id in (${members})) order by created_at, id`
  return LINES.list(sql, where, [accountId])
}

/** The line with this number that an account may use. */
export async function findLineOf(sql: Sql, accountId: string, number: string): Promise<Line | undefined> {
  const own = await LINES.find(sql, 'account_id = $1 and number = $2 and removed_at is null', [
    accountId,
    number,
  ])
  const members = 'select line_id from line_members where account_id = $1'
  return (
    own ?? LINES.find(sql, `id in (${members}) and number = $2 and removed_at is null`, [accountId, number])
  )
}

/** Returns whether the account is a new member. */
export function insertLineMember(sql: Sql, lineId: string, accountId: string): Promise<boolean> {
  return hasChanged(
    sql,
    'insert into line_members (line_id, account_id) values ($1, $2) on conflict do nothing',
    [lineId, accountId],
  )
}

export function deleteLineMember(sql: Sql, lineId: string, accountId: string): Promise<boolean> {
  return hasChanged(sql, 'delete from line_members where line_id = $1 and account_id = $2', [
    lineId,
    accountId,
  ])
}

export function listLineMembers(sql: Sql, lineId: string): Promise<string[]> {
  return listValues(sql, 'select account_id from line_members where line_id = $1 order by account_id', [
    lineId,
  ])
}

export function removeLine(sql: Sql, id: string, now: number): Promise<boolean> {
  return hasChanged(sql, 'update lines set removed_at = $2 where id = $1 and removed_at is null', [id, now])
}

/** Returns whether the line was not blocked before; of several concurrent calls, one gets true. */
export function blockLine(sql: Sql, id: string, now: number): Promise<boolean> {
  return hasChanged(
    sql,
    'update lines set blocked_at = $2 where id = $1 and blocked_at is null and removed_at is null',
    [id, now],
  )
}

/** Returns whether the line was blocked before. */
export function unblockLine(sql: Sql, id: string): Promise<boolean> {
  return hasChanged(sql, 'update lines set blocked_at = null where id = $1 and blocked_at is not null', [id])
}

/**
 * Waiting messages on blocked lines that have provably not left; for the others the line still looks up the
 * outcome.
 */
export function listBlockedBacklog(sql: Sql, limit: number): Promise<number[]> {
  return listValues(
    sql,
    `select m.id from messages m where m.next_action_at is not null and m.due_at is null and m.status <> 'PENDING'
       and m.line_id in (select id from lines where blocked_at is not null)
       and not exists (select 1 from attempts a where a.message_id = m.id and a.n = m.attempts + 1 and a.state = 'on_wire')
     union all
     select id from messages where due_at is not null
       and line_id in (select id from lines where blocked_at is not null)
     order by 1 limit $1`,
    [limit],
  )
}

/**
 * Messages that wait for a removed line or account, and whether an attempt of theirs is still open. Skips messages
 * on the wire since `wireSince`, whose result is still to come. Searches from the removed lines and accounts, which
 * are few, not from the waiting messages.
 */
export async function listOrphans(sql: Sql, wireSince: number, limit: number): Promise<Map<number, boolean>> {
  const rows = await sql.all<{ id: number; wire_at: number | null }>(
    `select m.id, a.wire_at from (
       select id, attempts from messages where next_action_at is not null and due_at is null
         and line_id in (select id from lines where removed_at is not null)
       union
       select id, attempts from messages where due_at is not null
         and line_id in (select id from lines where removed_at is not null)
       union
       select id, attempts from messages where next_action_at is not null and due_at is null
         and line_id in (select id from lines where kind = 'shared' and removed_at is null)
         and account_id in (select id from accounts where removed_at is not null)
       union
       select id, attempts from messages where due_at is not null
         and account_id in (select id from accounts where removed_at is not null)
     ) m left join attempts a on a.message_id = m.id and a.n = m.attempts + 1 and a.state = 'on_wire'
     where a.wire_at is null or a.wire_at < $1 order by m.id limit $2`,
    [wireSince, limit],
  )
  return new Map(rows.map((row) => [row.id, row.wire_at !== null]))
}
