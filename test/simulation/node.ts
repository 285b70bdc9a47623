import { type App, createApp } from '../../src/app.js'
import { createClock } from '../../src/base/clock.js'
import { createLog } from '../../src/base/log.js'
import type { Config } from '../../src/config.js'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import type { Db } from '../../src/storage/engine/db.js'
import { credentials, type Who } from '../support/world.js'
import type { Carrier } from './carrier.js'
import type { Chance } from './chance.js'
import { createLife, type Life } from './life.js'
import { mortalDb } from './mortal-db.js'
import type { Receiver } from './receiver.js'

/** What all processes of a run share: the world outside. */
export interface Outside {
  config: Config
  chance: Chance
  base: Db
  carrier: Carrier
  receiver: Receiver
}

/** One process of a run, from its start to its end by a kill. */
export interface SimulatedNode {
  life: Life
  now(): number
  /** The answer, or undefined if the process ended before. */
  ask(method: 'GET' | 'POST' | 'PUT' | 'PATCH', path: string, options: Ask): Promise<Answer | undefined>
  /** Waits until nothing goes on at the present time, or until the process ends. */
  settle(): Promise<void>
  advance(ms: number): Promise<void>
}

export interface Ask {
  as?: Who
  body?: object
  headers?: Record<string, string>
}

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are whatever the server sent
  body: any
}

/** Starts a process on what its predecessors left. It may end while it starts: then undefined. */
export async function startNode(
  { config, chance, base, carrier, receiver }: Outside,
  at: number,
  passages = Number.POSITIVE_INFINITY,
): Promise<SimulatedNode | undefined> {
  const life = createLife(chance)
  life.endAfter(passages)
  const clock = createClock(at)
  let app: App | undefined
  const begun = (async () => {
    app = await createApp(config, {
      storage: Promise.resolve(mortalDb(base, life)),
      log: createLog('silent'),
      clock,
      random: String(chance.below(2 ** 31)),
      drivers: [carrier.driver(life)],
      door: receiver.door(life),
      keys: DEFAULT_WORLD.keys,
      seed: true,
    })
    // A socket would bring the machine's own timing into the run.
    app.server.listen = (async () => '') as typeof app.server.listen
    await app.start()
  })()
  const orEnd = <T>(work: Promise<T>) => Promise.race([work, life.ended.then(() => undefined)])
  void life.ended.then(clock.stop)
  await orEnd(begun)
  if (life.isOver()) return undefined
  return {
    life,
    now: clock.now,
    async ask(method, url, { as = 'live', body, headers }) {
      const request = {
        method,
        url,
        headers: { ...credentials(as), ...headers },
        ...(body && { payload: body }),
      }
      const answer = await orEnd(app!.server.inject(request))
      return answer && { status: answer.statusCode, body: answer.body === '' ? null : answer.json() }
    },
    settle: async () => void (await orEnd(app!.settle())),
    advance: async (ms) => void (await orEnd(app!.advance(ms))),
  }
}
