import { fileURLToPath } from 'node:url'
import type { Chance } from '../simulation/chance.js'
import { type SpawnedServer, spawnServer } from '../support/server.js'

/** Processes of one service, and what befalls them. */
export interface Fleet {
  /** The URL of one of them. It may be paused or just gone. */
  anyUrl(): string
  /** Processes that nothing befalls at the moment. */
  whole(): SpawnedServer[]
  isWhole(node: SpawnedServer): boolean
  placeOf(node: SpawnedServer): number | undefined
  /** By name. Each resolves when the fleet is whole again. */
  faults: Record<string, () => Promise<void>>
  stop(): Promise<void>
  /** Processes that did not end when they were told to, in words. */
  lingering: readonly string[]
}

const PAUSE_MS = 8000
const STAY_MS = 6000
/** Processes allow for 5 s of difference between their clocks. */
const SKEW_MS = 4000
const MOVED_CLOCK = fileURLToPath(new URL('moved-clock.cjs', import.meta.url))
/** Supervisors give a process 10 to 90 s. A drain takes 2 s here, on a loaded machine a multiple of that. */
const STOP_MS = 60_000
/** A supervisor starts a process again that found no database. */
const START_MS = 120_000

export async function startFleet(
  size: number,
  envOf: (place: number) => Record<string, string>,
  chance: Chance,
): Promise<Fleet> {
  const nodes = new Map<number, SpawnedServer>()
  const struck = new Set<SpawnedServer>()
  const urls = new Map<number, string>()
  const lingering: string[] = []
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

  async function join(place: number, more: Record<string, string> = {}) {
    const until = performance.now() + START_MS
    for (;;) {
      try {
        const node = await spawnServer({ env: { ...envOf(place), ...more }, timeoutMs: START_MS })
        nodes.set(place, node)
        urls.set(place, node.url)
        return
      } catch (error) {
        if (performance.now() > until) throw error
      }
    }
  }
  /** A process that was told to stop and does not would stay in an operator's way for good. */
  async function end(node: SpawnedServer, signal: 'SIGKILL' | 'SIGTERM') {
    const late = setTimeout(() => {
      lingering.push(`a process did not end within ${STOP_MS / 1000} s after ${signal}`)
      void node.kill('SIGKILL')
    }, STOP_MS)
    await node.kill(signal)
    clearTimeout(late)
  }
  async function renew(place: number, signal: 'SIGKILL' | 'SIGTERM', more: Record<string, string> = {}) {
    const node = nodes.get(place)!
    struck.add(node)
    await end(node, signal)
    await pause(chance.below(3000))
    await join(place, more)
  }
  const one = () => chance.below(size)

  await Promise.all(Array.from({ length: size }, (_, place) => join(place)))
  return {
    anyUrl: () => chance.pick([...urls.values()]),
    whole: () => [...nodes.values()].filter((node) => !struck.has(node)),
    lingering,
    isWhole: (node) => !struck.has(node),
    placeOf: (node) => [...nodes].find(([, one]) => one === node)?.[0],
    faults: {
      killed: () => renew(one(), 'SIGKILL'),
      stopped: () => renew(one(), 'SIGTERM'),
      async paused() {
        const node = nodes.get(one())!
        struck.add(node)
        process.kill(node.pid, 'SIGSTOP')
        await pause(500 + chance.below(PAUSE_MS))
        process.kill(node.pid, 'SIGCONT')
        struck.delete(node)
      },
      async 'joined and left'() {
        await join(size)
        await pause(chance.below(STAY_MS))
        const node = nodes.get(size)!
        urls.delete(size)
        nodes.delete(size)
        await end(node, 'SIGTERM')
      },
      async 'clock moved'() {
        const place = one()
        const off = chance.below(2 * SKEW_MS) - SKEW_MS
        await renew(place, 'SIGTERM', {
          NODE_OPTIONS: `--require ${MOVED_CLOCK}`,
          CLOCK_OFF_MS: String(off),
        })
        await pause(chance.below(STAY_MS))
        await renew(place, 'SIGKILL')
      },
    },
    async stop() {
      await Promise.all([...nodes.values()].map((node) => end(node, 'SIGTERM')))
      nodes.clear()
    },
  }
}
