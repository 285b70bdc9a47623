import { hintOf } from '../../base/wakes.js'
import type { Sql } from './db.js'

/** The hints of one transaction, published after its commit. Repeated hints are published once. */
export interface Announcements {
  announce: Sql['announce']
  publish(): void
}

interface Announcer {
  onAnnounce(handler: (hint: string) => void): void
  /** Publishes at once, outside of a transaction. */
  announce: Sql['announce']
  collect(): Announcements
}

export function createAnnouncer(): Announcer {
  const handlers: ((hint: string) => void)[] = []
  const publish = (hint: string) => {
    for (const handler of handlers) handler(hint)
  }
  return {
    onAnnounce: (handler) => void handlers.push(handler),
    announce: (topic, ...detail) => publish(hintOf(topic, detail)),
    collect() {
      const hints = new Set<string>()
      return {
        announce: (topic, ...detail) => void hints.add(hintOf(topic, detail)),
        publish: () => hints.forEach(publish),
      }
    },
  }
}
