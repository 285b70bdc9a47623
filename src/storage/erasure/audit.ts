import type { AuditRow } from '../../core/audit/audit.js'
import { likeOf } from '../../core/erasure/person.js'
import { listRowsBySeq } from '../audit/audit.js'
import type { Sql, Writes } from '../engine/db.js'
import { listValues } from '../engine/query.js'
import { PAGE, type Scope } from './walk.js'

/** The next rows of the audit log whose object may name the person, and the last row that was looked at. */
export async function lookAtAudit(
  sql: Sql,
  { handle, scope, after }: { handle: string; scope: Scope; after: number },
): Promise<{ rows: AuditRow[]; next: number | undefined }> {
  const list = sql.inList(3, scope ?? [])
  const isOpen = scope ? `account_id ${list.sql}` : '1 = 1'
  const looked = await sql.all<{ seq: number; found: number }>(
    `select seq, case when ${isOpen} and lower(object) like $1 then 1 else 0 end as found
     from audit_log where seq > $2 order by seq limit ${PAGE}`,
    scope ? [likeOf(handle), after, list.param] : [likeOf(handle), after],
  )
  const found = looked.filter((row) => row.found === 1).map(({ seq }) => seq)
  return {
    rows: found.length > 0 ? await listRowsBySeq(sql, found) : [],
    next: looked.length < PAGE ? undefined : looked.at(-1)!.seq,
  }
}

export async function saveAuditObjects(sql: Writes, rows: readonly AuditRow[]): Promise<void> {
  await sql.updateMany(
    'audit_log',
    { seq: 'bigint' },
    { object: 'text' },
    rows.map(({ seq, object }) => [seq, object]),
  )
}

/** Ids of changes under way that may name the person. */
export function listOpenNaming(sql: Sql, handle: string): Promise<string[]> {
  return listValues(sql, 'select id from audit_open where lower(entry) like $1', [likeOf(handle)])
}

export async function findOpenEntry(sql: Sql, id: string): Promise<string | undefined> {
  return (await sql.one<{ entry: string }>('select entry from audit_open where id = $1', [id]))?.entry
}

export async function saveOpenEntry(sql: Sql, id: string, entry: string): Promise<void> {
  await sql.run('update audit_open set entry = $2 where id = $1', [id, entry])
}
