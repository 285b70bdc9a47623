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

export function staleKeys(type: string): string[][] {
  return [...(STALE[type.split('.')[0] ?? ''] ?? []), 'events'].map((word) => [word])
}
