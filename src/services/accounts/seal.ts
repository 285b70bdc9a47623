import { ConfigError } from '../../config.js'
import { SealError, type Vault } from '../../core/accounts/seal.js'
import {
  countOthers,
  listKids,
  lockSealed,
  SEALED,
  type SealedColumn,
  type SealedRow,
  saveSealed,
} from '../../storage/accounts/sealed.js'
import type { Sql } from '../../storage/engine/db.js'
import type { Ctx } from '../ctx.js'

/** Refuses a key ring that cannot open the stored secrets, at the start instead of at the first use. */
export async function checkVault(sql: Sql, vault: Vault): Promise<void> {
  for (const column of SEALED) {
    const missing = (await listKids(sql, column)).filter((kid) => !vault.kids.includes(kid))
    if (missing.length > 0) {
      throw new ConfigError(
        `Not starting: ${column.table} holds secrets sealed under ${missing.join(', ')}, and the key ring has only ${vault.kids.join(', ')}. Add the missing key to TRUNKLINE_SEAL_KEYS, or bring back the key file that was used before.`,
      )
    }
  }
}

/** Progress of a rotation. Each batch is final, so an interrupted rotation continues where it stopped. */
export interface ResealProgress {
  /** The current key. */
  kid: string
  /** Rows under older keys when the rotation begins; null in later batches. */
  total: number | null
  resealed: number
  /** Rows that no key opens; they stay unchanged. */
  unreadable: number
  /** Where the next batch begins; null at the end. */
  next: string | null
}

const BATCH = 100

/** Seals one batch of secrets under the newest key. `after` is the end of the previous batch. */
export async function resealBatch(ctx: Ctx, sql: Sql, after: string | null): Promise<ResealProgress> {
  const { vault } = ctx
  const total = after === null ? await countOlder(sql, vault) : null
  const [table = '0', lastKid = '', lastId = ''] = after?.split(' ') ?? []
  for (const [index, column] of SEALED.entries()) {
    if (index < Number(table)) continue
    const begun = index === Number(table)
    // Sorted here, because the database's order depends on its locale.
    for (const kid of (await listKids(sql, column)).sort()) {
      if (kid === vault.kid || (begun && kid < lastKid)) continue
      const rows = await lockSealed(sql, column, kid, begun && kid === lastKid ? lastId : '', BATCH)
      if (rows.length === 0) continue
      const fresh = rows.flatMap((row) => sealedAnew(ctx, column, row) ?? [])
      await saveSealed(sql, column, vault.kid, fresh)
      return {
        kid: vault.kid,
        total,
        resealed: fresh.length,
        unreadable: rows.length - fresh.length,
        next: `${index} ${kid} ${rows.at(-1)!.id}`,
      }
    }
  }
  return { kid: vault.kid, total, resealed: 0, unreadable: 0, next: null }
}

async function countOlder(sql: Sql, { kid }: Vault): Promise<number> {
  let total = 0
  for (const column of SEALED) total += await countOthers(sql, column, kid)
  return total
}

function sealedAnew(
  { vault, log }: Ctx,
  { table, column }: SealedColumn,
  row: SealedRow,
): SealedRow | undefined {
  const place = { table, column, row: row.id, account: row.accountId }
  try {
    return { ...row, sealed: vault.seal(place, vault.open(place, row.sealed)) }
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    log.error({ table, row: row.id }, 'this sealed text cannot be opened and stays as it is')
    return undefined
  }
}
