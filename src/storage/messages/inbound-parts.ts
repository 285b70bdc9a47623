import type { Service } from '../../core/messages/message.js'
import type { Row, Sql } from '../engine/db.js'

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
export type PartsKey = Pick<MessagePart, 'lineId' | 'sender' | 'ref' | 'total'>

export async function insertPart(sql: Sql, part: Omit<MessagePart, 'id'>): Promise<void> {
  await sql.run(
    `insert into message_parts (line_id, sender, ref, total, n, provider_id, digest, content, service, sent_at,
       received_at, due_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      part.lineId,
      part.sender,
      part.ref,
      part.total,
      part.n,
      part.providerId,
      part.digest,
      part.content,
      part.service,
      part.sentAt,
      part.receivedAt,
      part.dueAt,
    ],
  )
}

export async function isKnownPart(sql: Sql, lineId: string, providerId: string): Promise<boolean> {
  const row = await sql.one('select 1 as yes from message_parts where line_id = $1 and provider_id = $2', [
    lineId,
    providerId,
  ])
  return row !== undefined
}

/** Parts with the same ref since then, waiting or not. */
export async function listParts(sql: Sql, key: PartsKey, since: number): Promise<MessagePart[]> {
  const rows = await sql.all(
    `select * from message_parts where line_id = $1 and sender = $2 and ref = $3 and received_at >= $4 and total = $5
     order by n, id`,
    [key.lineId, key.sender, key.ref, since, key.total],
  )
  return rows.map(toPart)
}

/** Parts whose wait is over, with all other parts of their texts. */
export async function listDueParts(sql: Sql, now: number, limit: number): Promise<MessagePart[]> {
  const lock = sql.engine === 'postgres' ? 'for update' : ''
  const rows = await sql.all(
    `select * from message_parts where due_at is not null and due_at <= $1 order by due_at, n, id limit $2 ${lock}`,
    [now, limit],
  )
  return rows.map(toPart)
}

/** Marks parts as belonging to a message, which now holds their text. */
export async function closeParts(sql: Sql, ids: readonly number[]): Promise<void> {
  const list = sql.inIds(1, ids)
  await sql.run(`update message_parts set due_at = null, content = '' where id in ${list.sql}`, [list.param])
}

export async function findNextPartsDue(sql: Sql): Promise<number | undefined> {
  const row = await sql.one<{ at: number | null }>(
    'select min(due_at) as at from message_parts where due_at is not null',
  )
  return row?.at ?? undefined
}

function toPart(row: Row): MessagePart {
  return {
    id: row.id as number,
    lineId: row.line_id as string,
    sender: row.sender as string,
    ref: row.ref as string,
    total: row.total as number,
    n: row.n as number,
    providerId: row.provider_id as string | null,
    digest: row.digest as string,
    content: row.content as string,
    service: row.service as Service,
    sentAt: row.sent_at as number,
    receivedAt: row.received_at as number,
    dueAt: row.due_at as number | null,
  }
}
