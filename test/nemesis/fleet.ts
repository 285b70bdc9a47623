import type { Chance } from '../simulation/chance.js'
import { type SpawnedServer, spawnServer } from '../support/server.js'

/** Processes of one service, and what befalls them. */
export interface Fleet {
  /** The URL of one of them. It may be paused or just gone. */
  anyUrl(): string
  /** One process meets one fate; resolves when the fleet is whole again. */
  strike(): Promise<void>
  /** What happened, by name. */
  fates: Map<string, number>
  stop(): Promise<void>
}

const PAUSE_MS = 8000

export async function startFleet(size: number, env: Record<string, string>, chance: Chance): Promise<Fleet> {
  const nodes = await Promise.all(Array.from({ length: size }, () => spawnServer({ env })))
  const urls = nodes.map(({ url }) => url)
  const fates = new Map<string, number>()
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

  const renew = async (place: number, signal: 'SIGKILL' | 'SIGTERM') => {
    await nodes[place]!.kill(signal)
    await pause(chance.below(3000))
    nodes[place] = await spawnServer({ env })
    urls[place] = nodes[place].url
  }
  const possible: Record<string, (place: number) => Promise<unknown>> = {
    killed: (place) => renew(place, 'SIGKILL'),
    stopped: (place) => renew(place, 'SIGTERM'),
    async paused(place) {
      const { pid } = nodes[place] as SpawnedServer
      process.kill(pid, 'SIGSTOP')
      await pause(500 + chance.below(PAUSE_MS))
      process.kill(pid, 'SIGCONT')
    },
  }
  return {
    anyUrl: () => chance.pick(urls),
    fates,
    async strike() {
      const fate = chance.pick(Object.keys(possible))
      fates.set(fate, (fates.get(fate) ?? 0) + 1)
      await possible[fate]!(chance.below(size))
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.kill('SIGTERM')))
    },
  }
}
