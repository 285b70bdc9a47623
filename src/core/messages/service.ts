import { SERVICES, type Service } from './message.js'

/** The services to try for a recipient, best first. `reachable` comes from the carrier, if known. */
export function serviceChain(line: readonly Service[], reachable?: readonly Service[]): Service[] {
  return SERVICES.filter((service) => line.includes(service) && (!reachable || reachable.includes(service)))
}

/** The next service to try after a carrier said the recipient is not on this one. */
export function nextService(line: readonly Service[], failed: Service): Service | undefined {
  return SERVICES.slice(SERVICES.indexOf(failed) + 1).find((service) => line.includes(service))
}

/**
 * `was_downgraded` of a message: false if it went by iMessage, true if the line has iMessage but the recipient does not,
 * null if the line does not have iMessage.
 */
export function wasDowngraded(line: readonly Service[], used: Service): boolean | null {
  if (used === 'iMessage') return false
  return line.includes('iMessage') ? true : null
}
