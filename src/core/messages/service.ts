import { needsIMessage } from './extra.js'
import { type Message, SERVICES, type Service } from './message.js'

/** The services to try for a recipient, best first. `reachable` comes from the carrier, if known. */
export function serviceChain(line: readonly Service[], reachable?: readonly Service[]): Service[] {
  return SERVICES.filter((service) => line.includes(service) && (!reachable || reachable.includes(service)))
}

/** The next service to try after a carrier said the recipient is not on this one. */
export function nextService(line: readonly Service[], failed: Service): Service | undefined {
  return SERVICES.slice(SERVICES.indexOf(failed) + 1).find((service) => line.includes(service))
}

/** The next service for a message whose recipient, or a member of whose group, is not on this one. */
export function fallback(
  { extra, groupId }: Message,
  failed: Service,
  line: { services: readonly Service[]; groupMms?: boolean },
): Service | undefined {
  if (needsIMessage(extra)) return undefined
  if (groupId === null) return nextService(line.services, failed)
  // RCS has no groups with people who have only SMS.
  return failed === 'iMessage' && line.groupMms ? 'SMS' : undefined
}

/** The error text for a message that no service of the line can carry to everyone; undefined: a plain refusal. */
export function strandedText({ extra, groupId }: Message, detail: string): string | undefined {
  if (groupId !== null) return `The message does not reach everyone in the group: ${detail}`
  return needsIMessage(extra)
    ? 'The recipient is not on iMessage, and this kind of message never goes out as a text message'
    : undefined
}

/**
 * `was_downgraded` of a message: false if it went by iMessage, true if the line has a better service that does not reach
 * the recipient, null if the line has none.
 */
export function wasDowngraded(line: readonly Service[], used: Service): boolean | null {
  if (used === 'iMessage') return false
  return SERVICES.slice(0, SERVICES.indexOf(used)).some((service) => line.includes(service)) ? true : null
}
