import type { Message, Service } from '../../core/messages/message.js'
import type { Connection } from '../../drivers/contract.js'

/**
 * The services that reach the recipient of each message, by the message's id, for carriers that know them before sending. Groups use iMessage only, so
 * they are not looked up.
 */
export async function reachOf(
  connection: Connection,
  services: readonly Service[],
  messages: readonly Message[],
): Promise<Map<number, readonly Service[]>> {
  const reach = new Map<number, readonly Service[]>()
  const asked = new Map<string, Promise<readonly Service[] | undefined>>()
  if (!connection.availability || services.length < 2) return reach
  const ask = (accountId: string, number: string) => {
    const key = `${accountId} ${number}`
    // Without an answer the send goes ahead: a refusal by the carrier then selects the next service.
    const answer = asked.get(key) ?? connection.availability!({ accountId, number }).catch(() => undefined)
    asked.set(key, answer)
    return answer
  }
  await Promise.all(
    messages.map(async ({ id, accountId, contact, groupId }) => {
      const known = groupId === null ? await ask(accountId, contact) : undefined
      if (known) reach.set(id, known)
    }),
  )
  return reach
}
