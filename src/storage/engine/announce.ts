/** What one transaction has to tell once it is committed. The same thing said twice is told once. */
export interface Announcements {
  add(topic: string, detail: string): void
  tell(): void
}

export interface Announcer {
  onAnnounce(handler: (topic: string, detail: string) => void): void
  tell(topic: string, detail: string): void
  collect(): Announcements
}

export function createAnnouncer(): Announcer {
  const handlers: ((topic: string, detail: string) => void)[] = []
  const tell = (topic: string, detail: string) => {
    for (const handler of handlers) handler(topic, detail)
  }
  return {
    onAnnounce: (handler) => void handlers.push(handler),
    tell,
    collect() {
      const told = new Map<string, Set<string>>()
      return {
        add(topic, detail) {
          const details = told.get(topic)
          if (details) details.add(detail)
          else told.set(topic, new Set([detail]))
        },
        tell() {
          for (const [topic, details] of told) for (const detail of details) tell(topic, detail)
        },
      }
    },
  }
}
