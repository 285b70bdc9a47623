import { statfsSync } from 'node:fs'
import { AppError } from '../core/errors.js'
import type { Disk, Platform } from './ctx.js'

/** Real time. */
const LOOK_MS = 2000
const RETRY_MS = 30_000
const MB = 1024 * 1024

/**
 * Watches the disk of the data folder. SQLite cannot even delete on a full disk, so sends are refused before it is
 * full, and the rest is for what is under way: results, inbound messages, webhooks and retention. On PostgreSQL the
 * messages are on another disk.
 */
export function createDisk({ config, db }: Pick<Platform, 'config' | 'db'>): Disk {
  const lowWater = config.databaseUrl ? 0 : config.minFreeMb * MB
  let free: number | undefined
  let looking: NodeJS.Timeout | undefined

  function look() {
    try {
      const { bavail, bsize } = statfsSync(config.data)
      free = bavail * bsize
    } catch {
      // Some file systems do not tell; the database then tells when it cannot write.
      free = undefined
    }
  }

  const trouble = () => db.trouble() ?? lowOnSpace()
  const lowOnSpace = () =>
    free === undefined || free >= lowWater
      ? undefined
      : `The disk of the data folder has ${Math.floor(free / MB)} MB left, fewer than the ${config.minFreeMb} MB of TRUNKLINE_MIN_FREE_MB.`
  return {
    watch() {
      if (lowWater === 0) return
      look()
      looking = setInterval(look, LOOK_MS).unref()
    },
    stop: () => clearInterval(looking),
    freeBytes: () => free,
    trouble,
    refusal() {
      if (trouble() === undefined) return undefined
      return new AppError(
        'unavailable',
        'The server cannot store messages safely at the moment. Nothing was stored. Try again as Retry-After says.',
        { retryAfterMs: RETRY_MS },
      )
    },
  }
}
