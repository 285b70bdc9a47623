import type { Part } from '../../core/messages/part.js'
import type { Columns, Row, Sql, Writes } from '../engine/db.js'

/** A part of a send, with its attempt. */
export interface AttemptPart extends Part {
  ref: string
}

const COLUMNS = {
  ref: 'text',
  n: 'bigint',
  line_id: 'text',
  provider_id: 'text',
  status: 'text',
  detail: 'text',
} as const satisfies Columns

export async function insertAttemptParts(
  sql: Writes,
  lineId: string,
  parts: readonly AttemptPart[],
): Promise<void> {
  if (parts.length === 0) return
  await sql.insertMany(
    'attempt_parts',
    COLUMNS,
    parts.map((part) => [part.ref, part.n, lineId, part.providerId, part.status, part.detail]),
    'on conflict do nothing',
  )
}

export async function saveAttemptParts(sql: Writes, parts: readonly AttemptPart[]): Promise<void> {
  if (parts.length === 0) return
  await sql.updateMany(
    'attempt_parts',
    { ref: 'text', n: 'bigint' },
    { status: 'text', detail: 'text' },
    parts.map((part) => [part.ref, part.n, part.status, part.detail]),
  )
}

/** The attempts with parts of these provider ids. If two share an id, the later one is returned. */
export async function findPartRefs(
  sql: Sql,
  lineId: string,
  providerIds: readonly string[],
): Promise<Map<string, string>> {
  if (providerIds.length === 0) return new Map()
  const list = sql.inList(2, providerIds)
  const rows = await sql.all<{ provider_id: string; ref: string }>(
    `select provider_id, ref from attempt_parts where line_id = $1 and provider_id in ${list.sql} order by ref`,
    [lineId, list.param],
  )
  return new Map(rows.map((row) => [row.provider_id, row.ref]))
}

/** The parts of attempts, in order. */
export async function listAttemptParts(
  sql: Sql,
  refs: readonly string[],
): Promise<Map<string, AttemptPart[]>> {
  const byRef = new Map<string, AttemptPart[]>()
  if (refs.length === 0) return byRef
  const list = sql.inList(1, refs)
  for (const row of await sql.all(`select * from attempt_parts where ref in ${list.sql} order by ref, n`, [
    list.param,
  ])) {
    const part = toPart(row)
    byRef.set(part.ref, [...(byRef.get(part.ref) ?? []), part])
  }
  return byRef
}

function toPart(row: Row): AttemptPart {
  return {
    ref: row.ref as string,
    n: row.n as number,
    providerId: row.provider_id as string,
    status: row.status as Part['status'],
    detail: row.detail as string | null,
  }
}
