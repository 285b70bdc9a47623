// From the first send to the last DELIVERED, with every event written, on an unpaced simulated line.
import { load, message } from './load.js'
import { startBare, startTrunkline } from './servers.js'
import { median, round } from './stats.js'

const MESSAGES = 30_000

export async function deliveredSqlite(runs, say) {
  const bare = await startBare()
  const ratios = []
  try {
    await load({ port: bare.port, seconds: 2, body: message })
    for (let run = 1; run <= runs; run++) {
      const trunkline = await startTrunkline({ line: { pace: 0, config: { latency_ms: 0 } } })
      try {
        await load({ port: trunkline.port, count: 5000, body: message })
        await delivered(trunkline, 5000)
        const yardstick = await load({ port: bare.port, seconds: 4, body: message })
        const startedAt = performance.now()
        await load({ port: trunkline.port, count: MESSAGES, body: message })
        await delivered(trunkline, 5000 + MESSAGES)
        const rate = MESSAGES / ((performance.now() - startedAt) / 1000)
        ratios.push(rate / yardstick.rate)
        say(
          `delivered_sqlite run ${run}: ${Math.round(rate)}/s of ${Math.round(yardstick.rate)}/s bare = ${round(ratios.at(-1))}`,
        )
      } finally {
        await trunkline.stop()
      }
    }
    return { delivered_sqlite: round(median(ratios)) }
  } finally {
    await bare.stop()
  }
}

/** Waits until that many are delivered. The list's total is exact. */
async function delivered(trunkline, count) {
  for (;;) {
    const { pagination } = await trunkline.request('/api/v2/messages?status=DELIVERED&limit=1')
    if (pagination?.total === count) return
    await new Promise((resolve) => setTimeout(resolve, 120))
  }
}
