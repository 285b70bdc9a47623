import type { Alert } from '../../core/alerts/alert.js'
import type { AlertKind } from '../../core/alerts/facts.js'
import type { Reads, Sql } from '../engine/db.js'
import { exists, hasChanged } from '../engine/query.js'
import { table } from '../engine/table.js'

/** The facts of a row are those of its kind: `insertAlert` takes typed alerts only. */
const ALERTS = table<Alert>()('alerts', {
  text: 'accountId kind subject',
  number: 'since beganAt',
  json: 'facts',
})

/**
 * Lets one process at a time look and tell, until the commit. False: another one does. A process that stops here loses
 * the lock with its session.
 */
export async function lockAlerts(sql: Sql): Promise<boolean> {
  if (sql.engine === 'sqlite') return true
  const row = await sql.one<{ locked: boolean }>(
    "select pg_try_advisory_xact_lock(hashtextextended('alerts', 0)) as locked",
  )
  return row!.locked
}

/** Returns whether the alert is new. */
export function insertAlert(sql: Sql, alert: Alert): Promise<boolean> {
  return ALERTS.insert(sql, alert, {}, 'on conflict do nothing')
}

/** Returns whether this very alert was there. */
export function removeAlert(sql: Sql, { accountId, kind, subject, beganAt }: Alert): Promise<boolean> {
  return hasChanged(
    sql,
    'delete from alerts where account_id = $1 and kind = $2 and subject = $3 and began_at = $4',
    [accountId, kind, subject, beganAt],
  )
}

/** A place among the alerts of a kind. */
export interface AlertPlace {
  subject: string
  accountId: string
}

/**
 * Alerts of a kind after a place, each with whether its condition holds: an SQL condition on the alert `a`. Both are
 * read in one statement.
 */
export async function listAlertsOfKind<K extends AlertKind>(
  sql: Reads,
  kind: K,
  after: AlertPlace,
  limit: number,
  condition = '1 = 1',
): Promise<{ alert: Alert<K>; holds: boolean }[]> {
  const rows = await sql.all(
    `select a.*, case when ${condition} then 1 else 0 end as holds from (
       select * from alerts where kind = $1 and (subject, account_id) > ($2, $3)
       order by subject, account_id limit $4) a`,
    [kind, after.subject, after.accountId, limit],
  )
  return rows.map((row) => ({ alert: ALERTS.read(row) as Alert<K>, holds: row.holds === 1 }))
}

export function hasAlert(sql: Reads, accountId: string, kind: AlertKind, subject: string): Promise<boolean> {
  const text = 'select 1 from alerts where account_id = $1 and kind = $2 and subject = $3'
  return exists(sql, text, [accountId, kind, subject])
}

/** Who was told of these subjects. */
export function listTold(sql: Reads, kind: AlertKind, subjects: readonly string[]): Promise<AlertPlace[]> {
  const list = sql.inList(2, subjects)
  return sql.all(
    `select subject, account_id as "accountId" from alerts where kind = $1 and subject ${list.sql}`,
    [kind, list.param],
  )
}

export interface AlertCursor {
  accountId: string
  kind: string
  subject: string
}

/** Alerts of an account, or of every account, after one of them. */
export function listAlerts(
  sql: Reads,
  accountId: string | undefined,
  after: AlertCursor | undefined,
  limit: number,
): Promise<Alert[]> {
  const place = after ?? { accountId: '', kind: '', subject: '' }
  const own = accountId === undefined ? '' : 'and account_id = $5'
  return ALERTS.list(
    sql,
    `(account_id, kind, subject) > ($1, $2, $3) ${own} order by account_id, kind, subject limit $4`,
    [place.accountId, place.kind, place.subject, limit, ...(accountId === undefined ? [] : [accountId])],
  )
}
