import { createHmac, randomBytes } from 'node:crypto'
import type { Vault } from '../../core/accounts/seal.js'
import { markOf } from '../../core/erasure/person.js'
import type { Sql } from '../../storage/engine/db.js'
import { findMarkKey, insertMarkKey, type Marks } from '../../storage/erasure/marks.js'

const ID = 'marks'
const PLACE = { table: 'erasure_keys', column: 'sealed', row: ID, account: '' }

/** Marks under a key of their own: without the key ring, a copy of the database does not tell whom they stand for. */
export interface OwnMarks extends Marks {
  /** The mark of an address. The first one makes the key. */
  require(sql: Sql, handle: string): Promise<string>
}

export function createMarks(vault: Vault): OwnMarks {
  let key: string | undefined
  const of = (handle: string) => (key === undefined ? undefined : made(key, handle))

  async function load(sql: Sql) {
    const row = await findMarkKey(sql)
    if (row) key = vault.open(PLACE, row.sealed)
  }

  return {
    of,
    load,
    async require(sql, handle) {
      if (key === undefined) {
        const sealed = vault.seal(PLACE, randomBytes(32).toString('base64'))
        await insertMarkKey(sql, { id: ID, kid: vault.kid, sealed })
        // Not kept before the commit: a rolled back key would make marks that no other process finds.
        const row = await findMarkKey(sql)
        return made(vault.open(PLACE, row!.sealed), handle)
      }
      return made(key, handle)
    },
  }
}

function made(key: string, handle: string): string {
  return markOf(createHmac('sha256', key).update(handle).digest('base64url'))
}
