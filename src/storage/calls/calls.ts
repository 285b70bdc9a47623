import type { Call, CallOutcome } from '../../core/calls/call.js'
import type { Row, Sql } from '../engine/db.js'

export async function insertCall(sql: Sql, call: Call): Promise<void> {
  await sql.run(
    `insert into calls (id, network, line_id, line_number, account_id, caller, forwarded_to, state, outcome, created_at, answered_at, ended_at, due_at, direction, voicemail, sent_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    [
      call.id,
      call.network,
      call.lineId,
      call.lineNumber,
      call.accountId,
      call.caller,
      call.forwardedTo,
      call.state,
      call.outcome,
      call.createdAt,
      call.answeredAt,
      call.endedAt,
      call.dueAt,
      call.direction,
      call.voicemail ? 1 : 0,
      call.sentBy,
    ],
  )
}

export async function saveCall(sql: Sql, call: Call): Promise<void> {
  await sql.run(
    'update calls set state = $2, outcome = $3, answered_at = $4, ended_at = $5, due_at = $6, voicemail = $7 where id = $1',
    [call.id, call.state, call.outcome, call.answeredAt, call.endedAt, call.dueAt, call.voicemail ? 1 : 0],
  )
}

/** Locks the call until the commit: of two transactions that end it, the second finds it ended. */
export async function lockCall(sql: Sql, id: string): Promise<Call | undefined> {
  const row = await sql.one(`select * from calls where id = $1 ${forUpdate(sql)}`, [id])
  return row && toCall(row)
}

/** Locks the calls of a line whose ringing time is over. */
export async function lockDueCalls(sql: Sql, lineId: string, now: number, limit: number): Promise<Call[]> {
  const rows = await sql.all(
    `select * from calls where line_id = $1 and due_at <= $2 order by due_at, id limit $3 ${forUpdate(sql)}`,
    [lineId, now, limit],
  )
  return rows.map(toCall)
}

export async function lockOpenCalls(sql: Sql, lineId: string): Promise<Call[]> {
  const rows = await sql.all(
    `select * from calls where line_id = $1 and ended_at is null order by id ${forUpdate(sql)}`,
    [lineId],
  )
  return rows.map(toCall)
}

export async function findNextCallDue(sql: Sql, lineId: string): Promise<number | undefined> {
  const row = await sql.one<{ due_at: number | null }>(
    'select min(due_at) as due_at from calls where line_id = $1 and due_at is not null',
    [lineId],
  )
  return row?.due_at ?? undefined
}

/**
 * A phone's calls that an account may see, newest first: calls to a line of the account, and calls forwarded to the
 * phone on the account's behalf.
 */
export async function listPhoneCalls(
  sql: Sql,
  owner: { network: string; accountId: string },
  phone: string,
  limit: number,
): Promise<Call[]> {
  const rows = await sql.all(
    `select * from (select * from calls where network = $1 and caller = $2
       and line_id in (select id from lines where account_id = $3 union select line_id from line_members where account_id = $3)
       order by id desc limit $4) made
     union
     select * from (select * from calls where network = $1 and forwarded_to = $2 and account_id = $3
       order by id desc limit $4) got
     order by id desc limit $4`,
    [owner.network, phone, owner.accountId, limit],
  )
  return rows.map(toCall)
}

/** Calls that an account placed, newest first. */
export async function listOutboundCalls(sql: Sql, accountId: string, limit: number): Promise<Call[]> {
  const rows = await sql.all(
    "select * from calls where account_id = $1 and direction = 'outbound' order by id desc limit $2",
    [accountId, limit],
  )
  return rows.map(toCall)
}

/** Calls that an account received or placed, newest first. */
export async function listCalls(
  sql: Sql,
  accountId: string,
  beforeId: string | undefined,
  limit: number,
): Promise<Call[]> {
  const rows = await sql.all(
    `select * from calls where account_id = $1 and state <> 'turned_away' ${beforeId === undefined ? '' : 'and id < $3'}
     order by id desc limit $2`,
    [accountId, limit, ...(beforeId === undefined ? [] : [beforeId])],
  )
  return rows.map(toCall)
}

function forUpdate(sql: Sql): string {
  return sql.engine === 'postgres' ? 'for update' : ''
}

function toCall(row: Row): Call {
  return {
    id: row.id as string,
    network: row.network as string,
    direction: row.direction as Call['direction'],
    lineId: row.line_id as string,
    lineNumber: row.line_number as string,
    accountId: row.account_id as string | null,
    caller: row.caller as string,
    forwardedTo: row.forwarded_to as string | null,
    state: row.state as Call['state'],
    outcome: row.outcome as CallOutcome | null,
    voicemail: row.voicemail === 1,
    sentBy: row.sent_by as string | null,
    createdAt: row.created_at as number,
    answeredAt: row.answered_at as number | null,
    endedAt: row.ended_at as number | null,
    dueAt: row.due_at as number | null,
  }
}
