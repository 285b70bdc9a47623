import type { Door } from '../../src/services/webhooks/door/door.js'
import { PostFailed } from '../../src/services/webhooks/door/failure.js'
import type { Chance } from './chance.js'
import type { Life } from './life.js'

/** A receiver of webhooks outside of all processes. */
export interface Receiver {
  /** The door as one process has it. */
  door(life: Life): Door
  /** Posts in the order in which they arrived. */
  posts: { id: string; sequence: number; handle: string; status: string }[]
  /** Ids of posts that it answered with 200. */
  acknowledged: Set<string>
  heal(): void
}

export function createReceiver(chance: Chance): Receiver {
  const posts: Receiver['posts'] = []
  const acknowledged = new Set<string>()
  let isHealthy = false

  function answer(headers: Record<string, string>, body: string | Buffer): number {
    if (!isHealthy && chance.happens(0.1)) throw new PostFailed('connection', 'refused')
    const { message_handle: handle = '', status = '' } = JSON.parse(String(body))
    const id = headers['webhook-id']!
    posts.push({ id, sequence: Number(headers['x-trunkline-sequence']), handle, status })
    if (!isHealthy && chance.happens(0.1)) throw new PostFailed('timeout', 'no answer')
    if (!isHealthy && chance.happens(0.1)) return 500
    acknowledged.add(id)
    return 200
  }
  const nothing = async () => {
    throw new Error('Nothing is fetched in a simulation')
  }
  return {
    posts,
    acknowledged,
    door: (life) => ({
      open: nothing,
      download: nothing,
      hangUp: () => {},
      close: async () => {},
      post: (_url, { headers, body }) =>
        life.through(async () => ({
          status: answer(headers, body),
          headers: {},
          body: Buffer.alloc(0),
          ms: 0,
        })),
    }),
    heal() {
      isHealthy = true
    },
  }
}
