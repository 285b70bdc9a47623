import type { Message, Service } from '../../core/messages/message.js'
import type { Connection } from '../../drivers/contract.js'

/**
 * What the carrier knows of the services that reach each recipient, when it knows before sending. Groups are
 * iMessage's alone, so there is nothing to ask about them.
 */
export async function reachOf(
  connection: Connection,
  services: readonly Service[],
  messages: readonly Message[],
): Promise<Map<string, readonly Service[]>> {
  const reach = new Map<string, readonly Service[]>()
  if (!connection.availability || services.length < 2) return reach
  const numbers = messages.flatMap((message) => (message.groupId === null ? message.contact : []))
  await Promise.all(
    [...new Set(numbers)].map(async (number) => {
      // Not knowing is no reason to wait: the carrier's refusal then chooses the next service.
      const known = await connection.availability!(number).catch(() => undefined)
      if (known) reach.set(number, known)
    }),
  )
  return reach
}
