/**
 * Hints that there is work to do. They reach every process on the database and may be lost. A woken process reads
 * the database and does not rely on the hint.
 */
export interface Wakes {
  wake<Detail extends string[]>(topic: Topic<Detail>, ...detail: Detail): void
  /** Returns a function that ends the subscription. */
  on<Detail extends string[]>(topic: Topic<Detail>, handler: (...detail: NoInfer<Detail>) => void): () => void
}

/** A subject of hints. `Detail` names the strings that come with each hint. */
export interface Topic<Detail extends string[] = string[]> {
  name: string
  reach: Reach
  /** Never set: ties `Detail` to the type. */
  detail?: Detail
}

/**
 * Which processes a hint is for. A hint that a transaction announces goes to all of them, like a burst.
 *
 * - one: this process if it has a listener, otherwise the other processes
 * - all: every process
 * - burst: every process, up to thousands of times a second, so hints are gathered before they are sent
 */
export type Reach = 'one' | 'all' | 'burst'

/** A topic's name and a hint's detail as one text. */
export function hintOf(topic: Topic, detail: readonly string[]): string {
  return detail.length === 0 ? topic.name : `${topic.name}#${detail.join('#')}`
}

/** The part of the database that carries hints to other processes. */
export interface WakePort {
  engine: 'sqlite' | 'postgres'
  notify(hint: string): Promise<void>
  onNotify(handler: (hint: string) => void): void
  onAnnounce(handler: (hint: string) => void): void
}

type Listener = (...detail: string[]) => void

/** How often other processes get the gathered hints of a burst, at most. */
const GATHER_MS = 20

/** Carries hints inside this process and, on a shared database, to the other processes. */
export function createWakes(db: WakePort): Wakes {
  /** Most topics have one listener, and a set for each of them would take more memory than the listener. */
  const handlers = new Map<string, Listener | Set<Listener>>()
  const gathered = new Set<string>()

  /** Whether this process has a listener. */
  function call(hint: string): boolean {
    const [name = '', ...detail] = hint.split('#')
    const found = handlers.get(name)
    if (typeof found === 'function') found(...detail)
    else if (found) for (const handler of [...found]) handler(...detail)
    return found !== undefined
  }
  const notify = (hint: string) => void db.notify(hint).catch(() => {})

  function burst(hint: string) {
    call(hint)
    if (db.engine !== 'postgres') return
    if (gathered.size === 0) {
      setTimeout(() => {
        const hints = [...gathered]
        gathered.clear()
        hints.forEach(notify)
      }, GATHER_MS).unref()
    }
    gathered.add(hint)
  }

  db.onNotify(call)
  db.onAnnounce(burst)
  return {
    wake(topic, ...detail) {
      const hint = hintOf(topic, detail)
      if (topic.reach === 'burst') return burst(hint)
      const isHeard = call(hint)
      if (db.engine === 'postgres' && (!isHeard || topic.reach === 'all')) notify(hint)
    },
    on(topic, handler) {
      const { name } = topic
      // A hint of this topic carries the detail that its type names.
      const listener = handler as Listener
      const known = handlers.get(name)
      if (known === undefined) handlers.set(name, listener)
      else if (typeof known === 'function') handlers.set(name, new Set([known, listener]))
      else known.add(listener)
      return () => {
        const left = handlers.get(name)
        if (left === listener) handlers.delete(name)
        else if (typeof left === 'object' && left.delete(listener) && left.size === 0) handlers.delete(name)
      }
    },
  }
}
