import type { Status } from '../../core/messages/message.js'
import type { Receipt } from '../../core/messages/outcome.js'
import type { Db, Sql, Writes } from '../engine/db.js'
import { listValues } from '../engine/query.js'
import { deleteInSlices } from '../engine/slices.js'
import { table } from '../engine/table.js'

/** A receipt that matches no send yet, under one spelling of its id. */
export interface ParkedReceipt {
  providerId: string
  /** Id of the receipt, shared by all its spellings. */
  receipt: string
  status: Status
  report: Record<string, unknown>
}

const RECEIPTS = table<ParkedReceipt>()('parked_receipts', {
  text: 'providerId receipt status',
  json: 'report',
})
const NEW_COLUMNS = { ...RECEIPTS.columns, line_id: 'text', received_at: 'bigint' } as const

export async function parkReceipts(
  sql: Writes,
  lineId: string,
  parked: readonly ParkedReceipt[],
  now: number,
): Promise<void> {
  const rows = parked.map((one) => [...RECEIPTS.values(one), lineId, now])
  await sql.insertMany('parked_receipts', NEW_COLUMNS, rows, 'on conflict do nothing')
}

/** Deletes matched receipts under all their spellings. */
export async function forgetReceipts(
  sql: Writes,
  lineId: string,
  receipts: readonly string[],
): Promise<void> {
  if (receipts.length === 0) return
  const list = sql.inList(2, receipts)
  await sql.run(`delete from parked_receipts where line_id = $1 and receipt ${list.sql}`, [
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
  const text = `select provider_id from parked_receipts where line_id = $1 and provider_id ${list.sql}`
  return listValues(sql, text, [lineId, list.param])
}

/** Deletes and returns the receipts parked for these ids. */
export async function takeParkedReceipts(
  sql: Sql,
  lineId: string,
  providerIds: readonly string[],
): Promise<ParkedReceipt[]> {
  if (providerIds.length === 0) return []
  const list = sql.inList(2, providerIds)
  const text = `delete from parked_receipts where line_id = $1 and provider_id ${list.sql} returning *`
  return RECEIPTS.all(sql, text, [lineId, list.param])
}

/** Ids of parked receipts whose send is known by now. */
export function listMatchedReceipts(sql: Sql, lineId: string): Promise<string[]> {
  return listValues(
    sql,
    `select distinct p.provider_id from parked_receipts p
     where p.line_id = $1 and (
       exists (select 1 from attempts a where a.line_id = p.line_id and a.provider_id = p.provider_id)
       or exists (select 1 from attempt_parts a where a.line_id = p.line_id and a.provider_id = p.provider_id)
     ) limit 100`,
    [lineId],
  )
}

const MAX_UNMATCHED = 1000

/** The latest waiting receipts since that time by which a driver may recognise their sends, oldest first. */
export async function listUnmatchedReceipts(sql: Sql, lineId: string, since: number): Promise<Receipt[]> {
  const text = `select * from parked_receipts where line_id = $1 and received_at >= $2 and report like '%"evidence":%'
    order by received_at desc limit $3`
  const rows = (await RECEIPTS.all(sql, text, [lineId, since, MAX_UNMATCHED])).reverse()
  // One receipt is parked under each spelling of its id.
  const receipts = new Map(rows.map((row) => [`${row.receipt} ${row.status}`, row.report]))
  return [...receipts.values()] as unknown as Receipt[]
}

export function dropParkedReceipts(db: Db, before: number): Promise<number> {
  return deleteInSlices(db, { table: 'parked_receipts', where: 'received_at < $1', params: [before] })
}
