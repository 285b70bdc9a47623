// Thirty days of a simulated world: schedules, retries, expiries and a daily limit, as fast as the clock can be moved.
import { createTrunkline } from '../dist/testing/trunkline.js'
import { liveAMonth } from './month.js'
import { median, round } from './stats.js'

export async function thirtyDays(runs, say) {
  const seconds = []
  for (let run = 1; run <= runs; run++) {
    const month = await liveAMonth(createTrunkline, 'bench')
    seconds.push(month.seconds)
    say(
      `thirty_days_s run ${run}: ${round(month.seconds, 2)} s, ${round(month.cpuSeconds, 2)} s of the processor, ${month.log.split('\n').length - 1} events`,
    )
  }
  return { thirty_days_s: round(median(seconds), 2) }
}
