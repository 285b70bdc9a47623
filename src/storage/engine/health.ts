import type { Db } from './db.js'

/** A write proves more than a read: a demoted server and a full disk still answer queries. */
export interface Health {
  /** Fails if the database cannot write. */
  check(): Promise<void>
}

/** How long a successful check counts; strangers may ask as often as they like. */
const FRESH_MS = 500

export function createHealth(db: Db): Health {
  let checking: Promise<void> | undefined
  let writtenAt = Number.NEGATIVE_INFINITY
  return {
    check() {
      if (performance.now() - writtenAt < FRESH_MS) return Promise.resolve()
      checking ??= write(db)
        .then(() => {
          writtenAt = performance.now()
        })
        .finally(() => {
          checking = undefined
        })
      return checking
    },
  }
}

/** Rewrites a row as it is. */
async function write(db: Db): Promise<void> {
  await db.upkeep.run('update nodes set seen_at = seen_at where id = (select min(id) from nodes)')
}
