import type { Retention } from '../../core/accounts/retention.js'
import type { Sql } from '../engine/db.js'
import { table } from '../engine/table.js'

/** What an account keeps, and how far the removal of the rest is. */
interface RetentionPolicy {
  accountId: string
  days: Retention
  dueAt: number
  /** Attempts of messages up to this place in the order of their last changes are removed. */
  attemptsAt: number
  attemptsId: number
}

const POLICIES = table<RetentionPolicy>()('retention_policies', {
  text: 'accountId',
  json: 'days',
  number: 'dueAt attemptsAt attemptsId',
})

/** The policy of an account; empty if it has none. */
export async function findRetention(sql: Sql, accountId: string): Promise<Retention> {
  return (await POLICIES.find(sql, 'account_id = $1', [accountId]))?.days ?? {}
}

/** All policies, by account. */
export async function listRetention(sql: Sql): Promise<Map<string, Retention>> {
  return new Map((await POLICIES.list(sql, '1 = 1')).map(({ accountId, days }) => [accountId, days]))
}

/** Saves the policy of an account for its live and its test world. It counts at once. */
export async function saveRetention(
  sql: Sql,
  { id, twinId }: { id: string; twinId: string },
  days: Retention,
): Promise<void> {
  if (Object.keys(days).length === 0) {
    await sql.run('delete from retention_policies where account_id in ($1, $2)', [id, twinId])
    return
  }
  await sql.run(
    `insert into retention_policies (account_id, days, due_at, attempts_at, attempts_id)
     values ($1, $3, 0, 0, 0), ($2, $3, 0, 0, 0)
     on conflict (account_id) do update set days = excluded.days, due_at = 0`,
    [id, twinId, JSON.stringify(days)],
  )
}

/** Takes the account that waits longest, so that no other process takes it before `until`. */
export function takePolicy(sql: Sql, now: number, until: number): Promise<RetentionPolicy | undefined> {
  const skip = sql.engine === 'postgres' ? 'for update skip locked' : ''
  return POLICIES.one(
    sql,
    `update retention_policies set due_at = $2 where account_id = (
       select account_id from retention_policies where due_at <= $1 order by due_at, account_id limit 1 ${skip}
     ) returning *`,
    [now, until],
  )
}

/** Gives an account back until `dueAt`, unless its policy has changed or another process has taken it. */
export async function returnPolicy(sql: Sql, policy: RetentionPolicy, dueAt: number): Promise<void> {
  const { accountId, attemptsAt, attemptsId } = policy
  await sql.run(
    `update retention_policies set due_at = $3, attempts_at = $4, attempts_id = $5
     where account_id = $1 and due_at = $2`,
    [accountId, policy.dueAt, dueAt, attemptsAt, attemptsId],
  )
}
