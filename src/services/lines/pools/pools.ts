import { AppError } from '../../../core/errors.js'
import type { Line } from '../../../core/lines/line.js'
import { MOST_POOL_LINES, type Pool } from '../../../core/lines/pool.js'
import { findAccountToExtend } from '../../../storage/accounts/accounts.js'
import { type Sql, UniqueViolation } from '../../../storage/engine/db.js'
import { findLines } from '../../../storage/lines/lines.js'
import { findPool, insertPool, removePool, renamePool, setPoolLines } from '../../../storage/lines/pools.js'
import type { Ctx } from '../../ctx.js'

export interface PoolInput {
  name: string
  lineIds: readonly string[]
}

/** Makes a pool of lines, which all belong to one account. */
export async function createPool(ctx: Ctx, sql: Sql, input: PoolInput): Promise<Pool> {
  const [first] = await checkLines(ctx, sql, input.lineIds)
  const account = await findAccountToExtend(sql, first!.accountId!)
  if (!account) throw new AppError('not_found', `There is no account ${first!.accountId}`)
  const pool = { id: ctx.newId(), accountId: account.id, name: input.name, createdAt: ctx.clock.now() }
  await insertPool(sql, pool)
  await setPoolLines(sql, pool.id, input.lineIds)
  return pool
}

/** Changes the name or the lines of a pool. Conversations on a line that leaves it move with their next message. */
export async function changePool(ctx: Ctx, id: string, changes: Partial<PoolInput>): Promise<Pool> {
  const change = ctx.db.tx(async (sql) => {
    const before = await findPool(sql, id)
    if (!before) throw noPool(id)
    if (changes.lineIds) {
      await checkLines(ctx, sql, changes.lineIds, before)
      await setPoolLines(sql, id, changes.lineIds)
    }
    if (changes.name !== undefined) await renamePool(sql, id, changes.name)
    return { ...before, ...(changes.name !== undefined && { name: changes.name }) }
  })
  const pool = await change.catch((error) => {
    if (!(error instanceof UniqueViolation)) throw error
    throw new AppError('conflict', 'name: the account has a pool with this name')
  })
  ctx.directory.forget()
  return pool
}

export async function deletePool(ctx: Ctx, id: string): Promise<void> {
  if (!(await ctx.db.tx((sql) => removePool(sql, id)))) throw noPool(id)
  ctx.directory.forget()
}

const noPool = (id: string) => new AppError('not_found', `There is no pool ${id}`)

/** The lines, if they can be one sender: dedicated lines of one account that carry the same services. */
async function checkLines(ctx: Ctx, sql: Sql, ids: readonly string[], pool?: Pool): Promise<Line[]> {
  if (new Set(ids).size !== ids.length) throw new AppError('invalid', 'lines: a line is named twice')
  if (ids.length > MOST_POOL_LINES)
    throw new AppError('invalid', `lines: a pool has at most ${MOST_POOL_LINES} lines`)
  const found = await findLines(sql, ids)
  const lines = ids.map((id) => {
    const line = found.get(id)
    if (!line) throw new AppError('not_found', `There is no line ${id}`)
    return line
  })
  const accountId = pool?.accountId ?? lines[0]?.accountId
  for (const line of lines) {
    if (line.accountId === null)
      throw new AppError(
        'invalid',
        `lines: ${line.number} is a shared line; only dedicated lines form a pool`,
      )
    if (line.accountId !== accountId)
      throw new AppError('invalid', `lines: ${line.number} belongs to another account than the pool`)
    if (line.poolId !== null && line.poolId !== pool?.id)
      throw new AppError('conflict', `lines: ${line.number} is in another pool already`)
  }
  if (new Set(lines.map((line) => servicesOf(ctx, line))).size > 1)
    throw new AppError('invalid', 'lines: the lines of a pool must carry the same services')
  return lines
}

function servicesOf(ctx: Ctx, { driver, config }: Line): string {
  const services = ctx.drivers.get(driver)?.capabilities(config).services ?? []
  return [...services].sort().join(' ')
}
