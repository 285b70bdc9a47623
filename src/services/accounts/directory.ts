import { createBoundedMap } from '../../base/bounded-map.js'
import type { Clock } from '../../base/clock.js'
import type { Key } from '../../core/accounts/account.js'
import type { LimitedAccount } from '../../core/accounts/budgets.js'
import type { ConsoleSession } from '../../core/accounts/console-session.js'
import type { Token } from '../../core/accounts/token.js'
import type { Capabilities, Line } from '../../core/lines/line.js'
import type { Driver } from '../../drivers/contract.js'
import { findKeySecret } from '../../storage/accounts/accounts.js'
import { findLimitedAccount } from '../../storage/accounts/budgets.js'
import { findSessionSecret } from '../../storage/accounts/console-sessions.js'
import { findTokenSecret } from '../../storage/accounts/tokens.js'
import type { Db } from '../../storage/engine/db.js'
import { findLine, findLineOf, listLinesOf } from '../../storage/lines/lines.js'
import { listPoolHealth } from '../../storage/lines/states.js'

/**
 * Caches for one second what every request looks up and what rarely changes. A revocation takes effect at once in
 * this process, and within that second in others. Unknown keys are cached, too, so that they cost the same work as
 * known ones.
 */
export const KEEP_MS = 1000
export const KEEP_ENTRIES = 10_000

export interface Directory {
  /** Changes whenever this process may have changed an entry. */
  version(): number

  key(id: string): Promise<{ key: Key; secretHash: string } | undefined>
  token(id: string): Promise<{ token: Token; secretHash: string } | undefined>
  session(id: string): Promise<{ session: ConsoleSession; secretHash: string } | undefined>
  account(id: string): Promise<LimitedAccount | undefined>
  /** The lines that an account may send from, by number. */
  linesOf(accountId: string): Promise<ReadonlyMap<string, UsableLine>>
  /** The line with this number that an account may send from. */
  lineOf(accountId: string, number: string): Promise<UsableLine | undefined>
  line(id: string): Promise<UsableLine | undefined>
  /** The lines of a sender pool. */
  pool(id: string): Promise<readonly PoolMember[]>
  /** Call it after a change in this process. */
  forget(): void
}

export interface UsableLine {
  line: Line
  capabilities: Capabilities
}

/** A line of a sender pool. One that is down sends nothing at the moment. */
export interface PoolMember extends UsableLine {
  isDown: boolean
}

export function createDirectory(db: Db, drivers: ReadonlyMap<string, Driver>, clock: Clock): Directory {
  const stores: { clear(): void }[] = []
  let version = 0
  const kept = <T>(load: (id: string) => Promise<T>) => {
    const entries = createBoundedMap<string, Promise<T>>(KEEP_ENTRIES, KEEP_MS)
    stores.push(entries)
    return (id: string): Promise<T> => {
      const now = performance.now()
      const known = entries.get(id, now)
      if (known) return known
      const value = load(id)
      entries.set(id, value, now)
      value.catch(() => entries.delete(id))
      return value
    }
  }
  const usable = (line: Line): UsableLine | undefined => {
    const driver = drivers.get(line.driver)
    return driver && { line, capabilities: driver.capabilities(line.config) }
  }

  const lineOf = kept(async (id) => {
    const [accountId, number] = id.split(' ')
    const line = await findLineOf(db, accountId!, number!)
    return line && usable(line)
  })

  const keyOf = kept((id) => findKeySecret(db, id))

  return {
    async key(id) {
      const found = await keyOf(id)
      // At its moment, although the entry is kept a little longer.
      return found && (found.key.expiresAt ?? Number.POSITIVE_INFINITY) > clock.now() ? found : undefined
    },
    token: kept((id) => findTokenSecret(db, id)),
    session: kept((id) => findSessionSecret(db, id)),
    account: kept((id) => findLimitedAccount(db, id)),
    linesOf: kept(async (accountId) => {
      const lines = (await listLinesOf(db, accountId)).map(usable).filter((line) => line !== undefined)
      return new Map(lines.map((line) => [line.line.number, line]))
    }),
    lineOf: (accountId, number) => lineOf(`${accountId} ${number}`),
    line: kept(async (id) => {
      const line = await findLine(db, id)
      return line && usable(line)
    }),
    pool: kept(async (id) =>
      (await listPoolHealth(db, id)).flatMap(({ line, health }) => {
        const found = usable(line)
        return found ? [{ ...found, isDown: line.blockedAt !== null || health?.state === 'OFFLINE' }] : []
      }),
    ),
    version: () => version,
    forget() {
      version++
      for (const store of stores) store.clear()
    },
  }
}
