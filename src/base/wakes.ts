/**
 * Hints that there is something to do. They reach every process on the database, may be lost, and carry no
 * truth of their own: the process that is woken reads the database.
 */
export interface Wakes {
  wake(topic: string, detail?: string): void
  on(topic: string, handler: Handler): () => void
}

/** The part of the database that carries hints to other processes. */
export interface WakePort {
  engine: 'sqlite' | 'postgres'
  notify(payload: string): Promise<void>
  onNotify(handler: (payload: string) => void): void
  onAnnounce(handler: (topic: string, detail: string) => void): void
}

type Handler = (detail: string) => void

/** Somebody may no longer come in who could before. */
export const ACCESS_TOPIC = 'access'

/** Something is on the screen of a phone; the detail is its network. */
export const SCREEN_TOPIC = 'screens'

/** An account's simulated world was begun anew; the detail is the account. */
export const RESET_TOPIC = 'resets'

/** News that come in bursts go to other processes together, this often at most. */
const GATHER_MS = 20

/** Wake-ups inside the process, and through the database to other processes where nobody here listens. */
export function createWakes(db: WakePort): Wakes {
  const handlers = new Map<string, Set<Handler>>()
  const gathered = new Set<string>()
  const call = (topic: string, detail: string) => {
    const found = handlers.get(topic)
    if (found) for (const handler of [...found]) handler(detail)
    return found !== undefined
  }
  db.onNotify((payload) => {
    const [topic = '', detail = ''] = payload.split('#')
    call(topic, detail)
  })
  const notify = (payload: string) => void db.notify(payload).catch(() => {})

  /** Everybody may be interested, and there may be thousands a second. */
  function callEverywhere(topic: string, detail: string) {
    call(topic, detail)
    if (db.engine !== 'postgres') return
    if (gathered.size === 0) {
      setTimeout(() => {
        const payloads = [...gathered]
        gathered.clear()
        payloads.forEach(notify)
      }, GATHER_MS).unref()
    }
    gathered.add(`${topic}#${detail}`)
  }
  // What a transaction announced.
  db.onAnnounce(callEverywhere)
  return {
    wake(topic, detail = '') {
      if (topic === SCREEN_TOPIC) return callEverywhere(topic, detail)
      const heard = call(topic, detail)
      // A line's own topics concern only the one that drives it; these, every process.
      const concernsAll = topic === 'lines' || topic === ACCESS_TOPIC || topic.startsWith('places:')
      if (db.engine === 'postgres' && (!heard || concernsAll)) notify(`${topic}#${detail}`)
    },
    on(topic, handler) {
      const set = handlers.get(topic) ?? new Set()
      handlers.set(topic, set.add(handler))
      return () => {
        set.delete(handler)
        if (set.size === 0) handlers.delete(topic)
      }
    },
  }
}
