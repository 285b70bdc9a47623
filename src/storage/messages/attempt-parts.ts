import type { Part } from '../../core/messages/part.js'
import type { Sql, Writes } from '../engine/db.js'
import { table } from '../engine/table.js'

/** A part of a send, with its attempt. */
export interface AttemptPart extends Part {
  ref: string
}

const PARTS = table<AttemptPart>()('attempt_parts', { text: 'ref providerId status detail', number: 'n' })
const NEW_COLUMNS = { ...PARTS.columns, line_id: 'text' } as const

export async function insertAttemptParts(
  sql: Writes,
  lineId: string,
  parts: readonly AttemptPart[],
): Promise<void> {
  if (parts.length === 0) return
  const rows = parts.map((part) => [...PARTS.values(part), lineId])
  await sql.insertMany('attempt_parts', NEW_COLUMNS, rows, 'on conflict do nothing')
}

export async function saveAttemptParts(sql: Writes, parts: readonly AttemptPart[]): Promise<void> {
  if (parts.length > 0) await PARTS.update(sql, parts, 'ref n', 'providerId status detail')
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
    `select provider_id, ref from attempt_parts where line_id = $1 and provider_id ${list.sql} order by ref`,
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
  for (const part of await PARTS.list(sql, `ref ${list.sql} order by ref, n`, [list.param]))
    byRef.set(part.ref, [...(byRef.get(part.ref) ?? []), part])
  return byRef
}
