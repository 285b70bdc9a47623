import type { ForwardingNumbers } from '../../core/calls/forwarding.js'
import type { Sql } from '../engine/db.js'
import { exists } from '../engine/query.js'

/** Call settings of a line. Kept apart from the line, because changing them must not interrupt its driver. */
interface CallSettings {
  seatId: string | null
  forwardingNumber: string | null
}

export async function findCallSettings(sql: Sql, lineId: string): Promise<CallSettings> {
  const row = await sql.one<CallSettings>(
    'select seat_id as "seatId", forwarding_number as "forwardingNumber" from lines where id = $1',
    [lineId],
  )
  return row ?? { seatId: null, forwardingNumber: null }
}

export async function saveLineForwarding(sql: Sql, lineId: string, number: string | null): Promise<void> {
  await sql.run('update lines set forwarding_number = $2 where id = $1', [lineId, number])
}

export async function saveLineSeat(sql: Sql, lineId: string, seatId: string | null): Promise<void> {
  await sql.run('update lines set seat_id = $2 where id = $1', [lineId, seatId])
}

/** The forwarding numbers that apply to calls to this line, for this account. */
export async function findForwardingNumbers(
  sql: Sql,
  lineId: string,
  accountId: string,
): Promise<ForwardingNumbers> {
  const row = await sql.one<ForwardingNumbers>(
    `select s.forwarding_number as seat, l.forwarding_number as line, a.default_forwarding_number as company
     from lines l join accounts a on a.id = $2
     left join seats s on s.id = l.seat_id and s.account_id = a.id and s.removed_at is null where l.id = $1`,
    [lineId, accountId],
  )
  return row ?? { seat: null, line: null, company: null }
}

export function isBlocked(sql: Sql, accountId: string, number: string): Promise<boolean> {
  return exists(sql, 'select 1 from blocked_callers where account_id = $1 and number = $2', [
    accountId,
    number,
  ])
}

export function listBlockedCallers(
  sql: Sql,
  accountId: string,
): Promise<{ number: string; blockedAt: number }[]> {
  return sql.all(
    'select number, blocked_at as "blockedAt" from blocked_callers where account_id = $1 order by number',
    [accountId],
  )
}

export async function insertBlockedCaller(
  sql: Sql,
  accountId: string,
  number: string,
  at: number,
): Promise<void> {
  await sql.run(
    'insert into blocked_callers (account_id, number, blocked_at) values ($1, $2, $3) on conflict do nothing',
    [accountId, number, at],
  )
}

export async function deleteBlockedCaller(sql: Sql, accountId: string, number: string): Promise<void> {
  await sql.run('delete from blocked_callers where account_id = $1 and number = $2', [accountId, number])
}
