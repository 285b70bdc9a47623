import type { Sql } from '../engine/db.js'

/** The sealed key of the marks. */
export interface MarkKey {
  id: string
  kid: string
  sealed: string
}

/** The marks of erased people, by which their opt-outs are still found. */
export interface Marks {
  /** The mark of an address; undefined while this process knows no key, so that nobody was erased as far as it knows. */
  of(handle: string): string | undefined
  /** Reads the key, which another process may have made. */
  load(sql: Sql): Promise<void>
}

export function findMarkKey(sql: Sql): Promise<MarkKey | undefined> {
  return sql.one<MarkKey>('select id, kid, sealed from erasure_keys')
}

/** Stores the key, unless there is one. */
export async function insertMarkKey(sql: Sql, { id, kid, sealed }: MarkKey): Promise<void> {
  await sql.run(
    `insert into erasure_keys (id, account_id, kid, sealed) values ($1, '', $2, $3) on conflict (id) do nothing`,
    [id, kid, sealed],
  )
}
