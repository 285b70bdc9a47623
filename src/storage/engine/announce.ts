import { hintOf } from '../../base/wakes.js'
import type { Sql } from './db.js'

/** The hints of one transaction, told once it is committed. A hint that was given twice is told once. */
export interface Announcements {
  announce: Sql['announce']
  tell(): void
}

export interface Announcer {
  onAnnounce(handler: (hint: string) => void): void
  /** Outside a transaction: tells at once. */
  announce: Sql['announce']
  collect(): Announcements
}

export function createAnnouncer(): Announcer {
  const handlers: ((hint: string) => void)[] = []
  const tell = (hint: string) => {
    for (const handler of handlers) handler(hint)
  }
  return {
    onAnnounce: (handler) => void handlers.push(handler),
    announce: (topic, ...detail) => tell(hintOf(topic, detail)),
    collect() {
      const hints = new Set<string>()
      return {
        announce: (topic, ...detail) => void hints.add(hintOf(topic, detail)),
        tell: () => hints.forEach(tell),
      }
    },
  }
}
