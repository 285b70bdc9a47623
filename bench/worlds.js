// A world for a test: POST /sim/worlds over HTTP on SQLite, one after the other, each removed again.
import { LIVE, startTrunkline } from './servers.js'
import { median, round } from './stats.js'

const WORLDS = 100

export async function worldCreate(runs, say) {
  const medians = []
  const trunkline = await startTrunkline()
  const { 'content-type': _, ...headers } = LIVE
  const ask = async (method, path) => {
    const reply = await fetch(`http://127.0.0.1:${trunkline.port}${path}`, { method, headers })
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status}`)
    return reply.status === 204 ? null : reply.json()
  }
  try {
    for (let run = 1; run <= runs; run++) {
      const created = []
      const removed = []
      for (let i = 0; i < WORLDS; i++) {
        const before = performance.now()
        const world = await ask('POST', '/sim/worlds')
        const between = performance.now()
        await ask('DELETE', `/sim/worlds/${world.id}`)
        created.push(between - before)
        removed.push(performance.now() - between)
      }
      medians.push(median(created))
      say(
        `world_create_ms run ${run}: ${round(median(created), 1)} ms, and ${round(median(removed), 1)} ms to remove it`,
      )
    }
  } finally {
    await trunkline.stop()
  }
  return { world_create_ms: round(median(medians), 1) }
}
