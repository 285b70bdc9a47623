import type { QueryClient } from '@tanstack/react-query'

/** Events by the first part of their type, and the queries that they make stale by the first word of their keys. */
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

/** Stale queries are read again at most this often. */
const EVERY_MS = 250
const words = new Set<string>()
let isDue = false
let last = 0

/** Reads the queries whose keys begin with these words again, soon and all at once. */
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
