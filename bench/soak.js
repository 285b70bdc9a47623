// Resident memory over ten minutes of steady load. Not part of the default run.
import { load, message } from './load.js'
import { startTrunkline } from './servers.js'

const MINUTES = 10

export async function soak(_runs, say) {
  const trunkline = await startTrunkline({ line: { pace: 0, config: { latency_ms: 0 } } })
  const readings = []
  try {
    for (let minute = 0; minute < MINUTES; minute++) {
      const { rate, failed } = await load({
        port: trunkline.port,
        seconds: 60,
        connections: 16,
        body: message,
      })
      readings.push(Math.round(trunkline.rssMb()))
      say(`soak minute ${minute + 1}: ${Math.round(rate)} sends/s, ${failed} failed, ${readings.at(-1)} MB`)
    }
    return {
      soak_first_mb: readings[1],
      soak_last_mb: readings.at(-1),
      soak_growth: Number((readings.at(-1) / readings[1]).toFixed(2)),
    }
  } finally {
    await trunkline.stop()
  }
}
