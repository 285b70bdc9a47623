import type { Message, Service } from '../../core/messages/message.js'
import type { Connection } from '../../drivers/contract.js'

/**
 * The services that reach each recipient, for carriers that know them before sending. Groups use iMessage only, so
 * they are not looked up.
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
      // Without an answer the send goes ahead: a refusal by the carrier then selects the next service.
      const known = await connection.availability!(number).catch(() => undefined)
      if (known) reach.set(number, known)
    }),
  )
  return reach
}
