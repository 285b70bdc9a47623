import type { Message, Service, Status } from '../../core/messages/message.js'
import type { Param, Reads, Row } from '../engine/db.js'
import { table } from '../engine/table.js'
import { toMessage } from './rows.js'

/** A position in the order of messages, newest first. */
export interface MessagePosition {
  createdAt: number
  id: number
}

/**
 * A range of messages that an index holds in order, so that reading n rows costs n, whatever the size of the table.
 * At most one of the last four fields may be given.
 */
export interface ScanRange {
  accountId: string
  /** Excludes this position and newer ones. */
  before?: MessagePosition | undefined
  /** Inclusive. */
  from?: number | undefined
  to?: number | undefined
  lineIds?: readonly string[] | undefined
  contact?: string | undefined
  groupId?: string | undefined
  statuses?: readonly Status[] | undefined
}

/** The next messages of a range, newest first. */
export async function scanMessages(sql: Reads, range: ScanRange, limit: number): Promise<Message[]> {
  return (await scan(sql, range, '*', limit)).map(toMessage)
}

/** The conversation of a message, without the rest of it. */
export interface ConversationKey extends MessagePosition {
  lineId: string
  lineNumber: string
  contact: string
  groupId: string | null
}

const KEYS = table<ConversationKey>()('messages', {
  text: 'lineId lineNumber contact groupId',
  number: 'id createdAt',
})

export async function scanConversationKeys(
  sql: Reads,
  range: ScanRange,
  limit: number,
): Promise<ConversationKey[]> {
  const columns = 'id, line_id, line_number, contact, group_id, created_at'
  return (await scan(sql, range, columns, limit)).map(KEYS.read)
}

/** The fields of a message that charts use. */
export interface ChartSample {
  isOutbound: boolean
  status: Status
  service: Service
  createdAt: number
  updatedAt: number
  /** When the message was given to the carrier; before that, when it was accepted. */
  sentAt: number
  /** Whether the message had a scheduled send time. */
  wasScheduled: boolean
}

const SAMPLES = table<ChartSample>()('messages', {
  text: 'status service',
  number: 'createdAt updatedAt sentAt',
  flag: 'isOutbound wasScheduled',
})

export async function scanSamples(sql: Reads, range: ScanRange, limit: number): Promise<ChartSample[]> {
  const columns = `id, is_outbound, status, service, created_at, updated_at, sent_at,
    case when extra like '%"sendAt":%' then 1 else 0 end as was_scheduled`
  return (await scan(sql, range, columns, limit)).map(SAMPLES.read)
}

async function scan(sql: Reads, range: ScanRange, columns: string, limit: number): Promise<Row[]> {
  const params: Param[] = [range.accountId, limit]
  const bind = (value: Param) => `$${params.push(value)}`
  const bounds = ['account_id = $1', 'deleted_at is null']
  const { from, to } = range
  const end = to === undefined ? undefined : { createdAt: to + 1, id: 0 }
  const before = end && (!range.before || end.createdAt <= range.before.createdAt) ? end : range.before
  if (before) bounds.push(`(created_at, id) < (${bind(before.createdAt)}, ${bind(before.id)})`)
  const isPlain = !(range.contact ?? range.groupId ?? range.statuses ?? range.lineIds)
  // Only for a plain range: between two times, SQLite would walk all messages instead of those of one status.
  // Otherwise rows before `from` are dropped below.
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

/** One branch for each range of an index. */
function branchesOf({ lineIds, contact, groupId, statuses }: ScanRange, bind: (value: Param) => string) {
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
