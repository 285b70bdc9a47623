import type { Status } from '../core/message.js'
import type { Sql, Writes } from './db.js'

/** A carrier's word about a message we cannot match yet. */
export interface ParkedReceipt {
  providerId: string
  status: Status
  report: Record<string, unknown>
}

export async function parkReceipt(
  sql: Writes,
  lineId: string,
  receipt: ParkedReceipt,
  now: number,
): Promise<void> {
  await sql.run(
    `insert into parked_receipts (line_id, provider_id, status, report, received_at) values ($1, $2, $3, $4, $5)
     on conflict do nothing`,
    [lineId, receipt.providerId, receipt.status, JSON.stringify(receipt.report), now],
  )
}

export async function listParkedReceipts(
  sql: Sql,
  lineId: string,
  providerIds: readonly string[],
): Promise<string[]> {
  if (providerIds.length === 0) return []
  const list = sql.inList(2, providerIds)
  const rows = await sql.all<{ provider_id: string }>(
    `select provider_id from parked_receipts where line_id = $1 and provider_id in ${list.sql}`,
    [lineId, list.param],
  )
  return rows.map((row) => row.provider_id)
}

/** Takes out what was parked for these ids. */
export async function takeParkedReceipts(
  sql: Sql,
  lineId: string,
  providerIds: readonly string[],
): Promise<ParkedReceipt[]> {
  if (providerIds.length === 0) return []
  const list = sql.inList(2, providerIds)
  const rows = await sql.all<{ provider_id: string; status: Status; report: string }>(
    `delete from parked_receipts where line_id = $1 and provider_id in ${list.sql} returning provider_id, status, report`,
    [lineId, list.param],
  )
  return rows.map((row) => ({
    providerId: row.provider_id,
    status: row.status,
    report: JSON.parse(row.report),
  }))
}

/** Ids of parked receipts whose send is known after all. */
export async function listMatchedReceipts(sql: Sql, lineId: string): Promise<string[]> {
  const rows = await sql.all<{ provider_id: string }>(
    `select distinct p.provider_id from parked_receipts p
     where p.line_id = $1 and (
       exists (select 1 from attempts a where a.line_id = p.line_id and a.provider_id = p.provider_id)
       or exists (select 1 from attempt_parts a where a.line_id = p.line_id and a.provider_id = p.provider_id)
     ) limit 100`,
    [lineId],
  )
  return rows.map((row) => row.provider_id)
}

export async function dropParkedReceipts(sql: Sql, before: number): Promise<number> {
  return sql.run('delete from parked_receipts where received_at < $1', [before])
}
