import type { QueryClient } from '@tanstack/react-query'

/**
 * What an event makes out of date, by the first word of the query keys. A view whose queries begin with one of
 * these words is brought up to date by itself; a new resource gets its word here.
 */
const STALE: Record<string, readonly string[]> = {
  message: ['messages', 'phones', 'conversations', 'why', 'deliveries', 'overview', 'lines'],
  line: ['lines', 'overview'],
  call: ['calls', 'phones', 'overview'],
  contact: ['contacts'],
  contact_profile: ['lines'],
  group: ['groups', 'phones', 'conversations'],
  verification: ['verifications'],
  typing: ['phones'],
  webhook: ['webhooks', 'deliveries'],
  conversation: ['conversations'],
}

export function staleWords(type: string): string[] {
  return [...(STALE[type.split('.')[0] ?? ''] ?? []), 'events']
}

/** In a storm of events everything is read again this often at most. */
const EVERY_MS = 250
const words = new Set<string>()
let isDue = false
let last = 0

/** Reads again what begins with these words, soon and together. */
export function markStale(client: QueryClient, ...stale: string[]): void {
  for (const word of stale) words.add(word)
  if (isDue) return
  isDue = true
  setTimeout(
    () => {
      isDue = false
      last = performance.now()
      const due = [...words]
      words.clear()
      for (const word of due) void client.invalidateQueries({ queryKey: [word] })
    },
    Math.max(15, last + EVERY_MS - performance.now()),
  )
}
