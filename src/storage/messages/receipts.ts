import type { Status } from '../../core/messages/message.js'
import type { Columns, Sql, Writes } from '../engine/db.js'

/** A receipt that matches no send yet, under one spelling of its id. */
export interface ParkedReceipt {
  providerId: string
  /** Id of the receipt, shared by all its spellings. */
  receipt: string
  status: Status
  report: Record<string, unknown>
}

const COLUMNS = {
  line_id: 'text',
  provider_id: 'text',
  receipt: 'text',
  status: 'text',
  report: 'text',
  received_at: 'bigint',
} as const satisfies Columns

export async function parkReceipts(
  sql: Writes,
  lineId: string,
  parked: readonly ParkedReceipt[],
  now: number,
): Promise<void> {
  await sql.insertMany(
    'parked_receipts',
    COLUMNS,
    parked.map((one) => [lineId, one.providerId, one.receipt, one.status, JSON.stringify(one.report), now]),
    'on conflict do nothing',
  )
}

/** Deletes matched receipts under all their spellings. */
export async function forgetReceipts(
  sql: Writes,
  lineId: string,
  receipts: readonly string[],
): Promise<void> {
  if (receipts.length === 0) return
  const list = sql.inList(2, receipts)
  await sql.run(`delete from parked_receipts where line_id = $1 and receipt in ${list.sql}`, [
    lineId,
    list.param,
  ])
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

/** Deletes and returns the receipts parked for these ids. */
export async function takeParkedReceipts(
  sql: Sql,
  lineId: string,
  providerIds: readonly string[],
): Promise<ParkedReceipt[]> {
  if (providerIds.length === 0) return []
  const list = sql.inList(2, providerIds)
  const rows = await sql.all<{ provider_id: string; receipt: string; status: Status; report: string }>(
    `delete from parked_receipts where line_id = $1 and provider_id in ${list.sql}
     returning provider_id, receipt, status, report`,
    [lineId, list.param],
  )
  return rows.map((row) => ({
    providerId: row.provider_id,
    receipt: row.receipt,
    status: row.status,
    report: JSON.parse(row.report),
  }))
}

/** Ids of parked receipts whose send is known by now. */
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
