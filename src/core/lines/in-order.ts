interface InOrderOptions<T> {
  senderOf(one: T): string
  /** Whether to leave one out. */
  isDone(one: T): boolean
  take(one: T): Promise<void>
}

/**
 * Takes received messages one after the other. A message that cannot be stored yet delays the later ones of its sender
 * only; the failure is thrown at the end, so that the next read tries again.
 */
export async function takeInOrder<T>(
  rows: readonly T[],
  { senderOf, isDone, take }: InOrderOptions<T>,
): Promise<void> {
  const waiting = new Set<string>()
  let failure: unknown
  for (const row of rows) {
    const sender = senderOf(row)
    if (isDone(row) || waiting.has(sender)) continue
    await take(row).catch((error) => {
      waiting.add(sender)
      failure = error
    })
  }
  if (waiting.size > 0) throw failure
}
