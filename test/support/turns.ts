/** Lets the event loop of this process go round: bytes between its own sockets move on with each turn. */
export async function turns(count = 1): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}
