import type { Message, Service, Status } from '../../core/messages/message.js'
import type { Param, Row, Sql } from '../engine/db.js'
import { toMessage } from './rows.js'

/** A place in the order of messages, newest first. */
export interface Place {
  createdAt: number
  id: number
}

/**
 * Where to look: an index leads to exactly these rows, in their order, so that looking at n of them costs n
 * whatever the size of the table. At most one of the last five.
 */
export interface Range {
  accountId: string
  /** Not this place, and not before it. */
  before?: Place | undefined
  /** Inclusive. */
  from?: number | undefined
  to?: number | undefined
  lineIds?: readonly string[] | undefined
  contact?: string | undefined
  groupId?: string | undefined
  statuses?: readonly Status[] | undefined
}

/** The next messages of a range, newest first. */
export async function scanMessages(sql: Sql, range: Range, limit: number): Promise<Message[]> {
  return (await scan(sql, range, '*', limit)).map(toMessage)
}

/** Whose conversation a message belongs to, and no more of it. */
export interface Turn extends Place {
  lineId: string
  lineNumber: string
  contact: string
  groupId: string | null
}

export async function scanTurns(sql: Sql, range: Range, limit: number): Promise<Turn[]> {
  const rows = await scan(sql, range, 'id, line_id, line_number, contact, group_id, created_at', limit)
  return rows.map((row) => ({
    id: row.id as number,
    createdAt: row.created_at as number,
    lineId: row.line_id as string,
    lineNumber: row.line_number as string,
    contact: row.contact as string,
    groupId: row.group_id as string | null,
  }))
}

/** What charts are made of. */
export interface Sample {
  isOutbound: boolean
  status: Status
  service: Service
  createdAt: number
  updatedAt: number
  /** When it was handed to the carrier, or accepted as long as it was not. */
  sentAt: number
  /** It waited for a time of its sender's choice. */
  wasScheduled: boolean
}

export async function scanSamples(sql: Sql, range: Range, limit: number): Promise<Sample[]> {
  const columns = `id, is_outbound, status, service, created_at, updated_at, sent_at,
    case when extra like '%"sendAt":%' then 1 else 0 end as was_scheduled`
  return (await scan(sql, range, columns, limit)).map((row) => ({
    isOutbound: row.is_outbound === 1,
    status: row.status as Status,
    service: row.service as Service,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
    sentAt: row.sent_at as number,
    wasScheduled: row.was_scheduled === 1,
  }))
}

async function scan(sql: Sql, range: Range, columns: string, limit: number): Promise<Row[]> {
  const params: Param[] = [range.accountId, limit]
  const bind = (value: Param) => `$${params.push(value)}`
  const bounds = ['account_id = $1', 'deleted_at is null']
  const { from, to } = range
  const end = to === undefined ? undefined : { createdAt: to + 1, id: 0 }
  const before = end && (!range.before || end.createdAt <= range.before.createdAt) ? end : range.before
  if (before) bounds.push(`(created_at, id) < (${bind(before.createdAt)}, ${bind(before.id)})`)
  const isPlain = !(range.contact ?? range.groupId ?? range.statuses ?? range.lineIds)
  // Between two times SQLite would rather walk all messages than those of one status, so there the first time is
  // looked at here: what lies before it is the end.
  if (from !== undefined && isPlain) bounds.push(`created_at >= ${bind(from)}`)
  const parts = branchesOf(range, bind).map(
    (branch, i) =>
      `select * from (select ${columns} from messages where ${[...bounds, ...branch].join(' and ')}
       order by created_at desc, id desc limit $2) b${i}`,
  )
  if (parts.length === 0) return []
  const rows = await sql.all(
    `${parts.join(' union all ')} order by created_at desc, id desc limit $2`,
    params,
  )
  return from === undefined || isPlain ? rows : rows.filter((row) => (row.created_at as number) >= from)
}

/** One for each place of an index. */
function branchesOf({ lineIds, contact, groupId, statuses }: Range, bind: (value: Param) => string) {
  if (contact !== undefined) return [[`contact = ${bind(contact)}`]]
  if (groupId !== undefined) return [[`group_id = ${bind(groupId)}`]]
  if (statuses) return statuses.map((status) => [`status = ${bind(status)}`])
  if (!lineIds) return [[]]
  return lineIds.flatMap((id) => {
    const line = `line_id = ${bind(id)}`
    return [
      [line, 'is_outbound = 0'],
      [line, 'is_outbound = 1'],
    ]
  })
}
