import type { Service } from '../../core/messages/message.js'
import type { Row, Sql } from '../engine/db.js'

/** One part of a long text, as it was received. */
export interface MessagePart {
  id: number
  lineId: string
  sender: string
  ref: string
  total: number
  n: number
  providerId: string | null
  /** Stays when the text is gone. */
  digest: string
  content: string
  service: Service
  sentAt: number
  receivedAt: number
  /** When it is no longer waited for the others; null once it is part of a message. */
  dueAt: number | null
}

/** Which text a part belongs to, as long as the carrier does not use the ref again. */
export type Whole = Pick<MessagePart, 'lineId' | 'sender' | 'ref' | 'total'>

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

/** Parts of the same ref that came since then, waiting or not. */
export async function listParts(sql: Sql, whole: Whole, since: number): Promise<MessagePart[]> {
  const rows = await sql.all(
    `select * from message_parts where line_id = $1 and sender = $2 and ref = $3 and received_at >= $4 and total = $5
     order by n, id`,
    [whole.lineId, whole.sender, whole.ref, since, whole.total],
  )
  return rows.map(toPart)
}

/** Parts whose time is over, with all that wait with them. */
export async function listDueParts(sql: Sql, now: number, limit: number): Promise<MessagePart[]> {
  const lock = sql.engine === 'postgres' ? 'for update' : ''
  const rows = await sql.all(
    `select * from message_parts where due_at is not null and due_at <= $1 order by due_at, n, id limit $2 ${lock}`,
    [now, limit],
  )
  return rows.map(toPart)
}

/** They are part of a message now: their text is there. */
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
