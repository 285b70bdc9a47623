import type { Clock } from '../../base/clock.js'
import type { Log } from '../../base/log.js'
import type { Db } from '../../storage/engine/db.js'
import { hasRealLines } from '../../storage/lines/lines.js'
import { forgetAhead, readAhead } from '../../storage/sim/clock.js'

/**
 * At the start: sets the clock as far ahead as it was moved before. Real lines know only the real time, so with one of
 * them the clock starts anew.
 */
export async function resumeClock(db: Db, clock: Clock, log: Log): Promise<void> {
  const ahead = clock.isFrozen ? 0 : await readAhead(db)
  if (ahead === 0) return
  if (await hasRealLines(db)) return forgetAhead(db)
  await clock.advance(ahead, async () => {})
  log.info({ ahead_ms: ahead }, 'the clock is ahead of the machine: it was moved with POST /sim/clock')
}
