import type { Line } from '../../core/lines/line.js'
import type { Param, Row, Sql, Writes } from '../engine/db.js'

/** The changeable columns of a line. */
const MUTABLE: [column: string, value: (line: Line) => Param][] = [
  ['config', (line) => JSON.stringify(line.config)],
  ['pace', (line) => line.pace],
  ['daily_limit', (line) => line.dailyLimit],
  ['on_unknown', (line) => line.onUnknown],
  ['settle_ms', (line) => line.settleMs],
  ['consent_replies', (line) => line.consentReplies],
  ['stop_text', (line) => line.stopText],
  ['start_text', (line) => line.startText],
  ['help_text', (line) => line.helpText],
  ['loop_limit', (line) => line.loopLimit],
  ['revision', (line) => line.revision],
]

export async function insertLine(sql: Sql, line: Line): Promise<void> {
  const fixed = [line.id, line.network, line.number, line.kind, line.accountId, line.driver, line.createdAt]
  const columns = MUTABLE.map(([column]) => column).join(', ')
  const places = MUTABLE.map((_, i) => `$${fixed.length + i + 1}`).join(', ')
  await sql.run(
    `insert into lines (id, network, number, kind, account_id, driver, created_at, ${columns})
     values ($1, $2, $3, $4, $5, $6, $7, ${places})`,
    [...fixed, ...MUTABLE.map(([, value]) => value(line))],
  )
}

export async function saveLine(sql: Sql, line: Line): Promise<void> {
  const set = MUTABLE.map(([column], i) => `${column} = $${i + 2}`).join(', ')
  await sql.run(`update lines set ${set} where id = $1`, [
    line.id,
    ...MUTABLE.map(([, value]) => value(line)),
  ])
}

export async function findLine(sql: Sql, id: string): Promise<Line | undefined> {
  const row = await sql.one('select * from lines where id = $1 and removed_at is null', [id])
  return row && toLine(row)
}

/** Like `findLine`, and locks the line until the commit. */
export async function findLineToChange(sql: Sql, id: string): Promise<Line | undefined> {
  const lock = sql.engine === 'postgres' ? 'for update' : ''
  const row = await sql.one(`select * from lines where id = $1 and removed_at is null ${lock}`, [id])
  return row && toLine(row)
}

export async function findLineByNumber(sql: Sql, network: string, number: string): Promise<Line | undefined> {
  const row = await sql.one('select * from lines where network = $1 and number = $2 and removed_at is null', [
    network,
    number,
  ])
  return row && toLine(row)
}

/** Prevents removal of a line until the commit; returns whether the line exists. */
export async function holdLine(sql: Sql, id: string): Promise<boolean> {
  const lock = sql.engine === 'postgres' ? 'for share' : ''
  return (
    (await sql.one(`select 1 as yes from lines where id = $1 and removed_at is null ${lock}`, [id])) !==
    undefined
  )
}

/** Like `findLine`, including removed lines. */
export async function findLineEver(sql: Sql, id: string): Promise<Line | undefined> {
  const row = await sql.one('select * from lines where id = $1', [id])
  return row && toLine(row)
}

/** Whether the line's world was not reset since the line was read. */
export async function isCurrent(sql: Sql, line: Pick<Line, 'id' | 'resets'>): Promise<boolean> {
  const row = await sql.one<{ resets: number }>('select resets from lines where id = $1', [line.id])
  return row?.resets === line.resets
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
  const rows = await sql.all<{ number: string }>(
    `select number from lines where network = $1 and number in ${list.sql} and removed_at is null`,
    [network, list.param],
  )
  return new Set(rows.map((row) => row.number))
}

/** All lines with this number, including removed ones, because messages outlive their line. */
export async function listLineIds(sql: Sql, network: string, number: string): Promise<string[]> {
  const rows = await sql.all<{ id: string }>('select id from lines where network = $1 and number = $2', [
    network,
    number,
  ])
  return rows.map((row) => row.id)
}

export async function listLines(sql: Sql): Promise<Line[]> {
  return (await sql.all('select * from lines where removed_at is null order by created_at, id')).map(toLine)
}

/** The lines that an account may use: its own, and the shared lines it is a member of. */
export async function listLinesOf(sql: Sql, accountId: string): Promise<Line[]> {
  const rows = await sql.all(
    `select * from lines where removed_at is null and (account_id = $1
       or id in (select line_id from line_members where account_id = $1)) order by created_at, id`,
    [accountId],
  )
  return rows.map(toLine)
}

/** Returns whether the account is a new member. */
export async function insertLineMember(sql: Sql, lineId: string, accountId: string): Promise<boolean> {
  const added = await sql.run(
    'insert into line_members (line_id, account_id) values ($1, $2) on conflict do nothing',
    [lineId, accountId],
  )
  return added > 0
}

export async function deleteLineMember(sql: Sql, lineId: string, accountId: string): Promise<boolean> {
  const gone = await sql.run('delete from line_members where line_id = $1 and account_id = $2', [
    lineId,
    accountId,
  ])
  return gone > 0
}

export async function listLineMembers(sql: Sql, lineId: string): Promise<string[]> {
  const rows = await sql.all<{ account_id: string }>(
    'select account_id from line_members where line_id = $1 order by account_id',
    [lineId],
  )
  return rows.map((row) => row.account_id)
}

export async function removeLine(sql: Sql, id: string, now: number): Promise<boolean> {
  return (
    (await sql.run('update lines set removed_at = $2 where id = $1 and removed_at is null', [id, now])) > 0
  )
}

/** Returns whether the line was not blocked before; of several concurrent calls, one gets true. */
export async function blockLine(sql: Sql, id: string, now: number): Promise<boolean> {
  const changed = await sql.run(
    'update lines set blocked_at = $2 where id = $1 and blocked_at is null and removed_at is null',
    [id, now],
  )
  return changed > 0
}

/** Returns whether the line was blocked before. */
export async function unblockLine(sql: Sql, id: string): Promise<boolean> {
  const changed = await sql.run(
    'update lines set blocked_at = null where id = $1 and blocked_at is not null',
    [id],
  )
  return changed > 0
}

/**
 * Waiting messages on blocked lines that have provably not left; for the others the line still looks up the
 * outcome.
 */
export async function listBlockedBacklog(sql: Sql, limit: number): Promise<number[]> {
  const rows = await sql.all<{ id: number }>(
    `select m.id from messages m where m.next_action_at is not null and m.due_at is null and m.status <> 'PENDING'
       and m.line_id in (select id from lines where blocked_at is not null)
       and not exists (select 1 from attempts a where a.message_id = m.id and a.n = m.attempts + 1 and a.state = 'on_wire')
     union all
     select id from messages where due_at is not null
       and line_id in (select id from lines where blocked_at is not null)
     order by 1 limit $1`,
    [limit],
  )
  return rows.map((row) => row.id)
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

export function toLine(row: Row): Line {
  return {
    id: row.id as string,
    network: row.network as string,
    number: row.number as string,
    kind: row.kind as Line['kind'],
    accountId: row.account_id as string | null,
    driver: row.driver as string,
    config: JSON.parse(row.config as string),
    pace: row.pace as number,
    dailyLimit: row.daily_limit as number,
    onUnknown: row.on_unknown as Line['onUnknown'],
    settleMs: row.settle_ms as number,
    consentReplies: row.consent_replies as Line['consentReplies'],
    stopText: row.stop_text as string | null,
    startText: row.start_text as string | null,
    helpText: row.help_text as string | null,
    loopLimit: row.loop_limit as number | null,
    createdAt: row.created_at as number,
    blockedAt: row.blocked_at as number | null,
    resets: row.resets as number,
    revision: row.revision as number,
  }
}
