import type { Service } from '../../core/messages/message.js'
import type { Sql } from '../engine/db.js'
import { exists, findValue, forUpdate } from '../engine/query.js'
import { table } from '../engine/table.js'

/** One received part of a long text. */
export interface MessagePart {
  id: number
  lineId: string
  sender: string
  ref: string
  total: number
  n: number
  providerId: string | null
  /** Hash of the text; kept after the text is deleted. */
  digest: string
  content: string
  service: Service
  sentAt: number
  receivedAt: number
  /** When to stop waiting for the other parts; null once the part belongs to a message. */
  dueAt: number | null
}

/** Identifies the text of a part; carriers reuse refs after a while. */
type PartsKey = Pick<MessagePart, 'lineId' | 'sender' | 'ref' | 'total'>

const PARTS = table<MessagePart, Omit<MessagePart, 'id'>>()('message_parts', {
  serial: 'id',
  text: 'lineId sender ref providerId digest content service',
  number: 'total n sentAt receivedAt dueAt',
})

export async function insertPart(sql: Sql, part: Omit<MessagePart, 'id'>): Promise<void> {
  await PARTS.insert(sql, part)
}

export function isKnownPart(sql: Sql, lineId: string, providerId: string): Promise<boolean> {
  return exists(sql, 'select 1 from message_parts where line_id = $1 and provider_id = $2', [
    lineId,
    providerId,
  ])
}

/** Parts with the same ref since then, waiting or not. */
export function listParts(sql: Sql, key: PartsKey, since: number): Promise<MessagePart[]> {
  const where =
    'line_id = $1 and sender = $2 and ref = $3 and received_at >= $4 and total = $5 order by n, id'
  return PARTS.list(sql, where, [key.lineId, key.sender, key.ref, since, key.total])
}

/** Parts whose wait is over, with all other parts of their texts. */
export function listDueParts(sql: Sql, now: number, limit: number): Promise<MessagePart[]> {
  const where = `due_at is not null and due_at <= $1 order by due_at, n, id limit $2 ${forUpdate(sql)}`
  return PARTS.list(sql, where, [now, limit])
}

/** Marks waiting parts as belonging to a message, which now holds their text. Returns how many were still waiting. */
export function closeParts(sql: Sql, ids: readonly number[]): Promise<number> {
  const list = sql.inIds(1, ids)
  return sql.run(
    `update message_parts set due_at = null, content = '' where id ${list.sql} and due_at is not null`,
    [list.param],
  )
}

export function findNextPartsDue(sql: Sql): Promise<number | undefined> {
  return findValue(sql, 'select min(due_at) from message_parts where due_at is not null')
}
