import { SERVICES, type Service } from './message.js'

/** The services to try for a recipient, best first. `reachable` is what the carrier knows, if it says. */
export function serviceChain(line: readonly Service[], reachable?: readonly Service[]): Service[] {
  return SERVICES.filter((service) => line.includes(service) && (!reachable || reachable.includes(service)))
}

/** The next service to try after a carrier said the recipient is not on this one. */
export function nextService(line: readonly Service[], failed: Service): Service | undefined {
  return SERVICES.slice(SERVICES.indexOf(failed) + 1).find((service) => line.includes(service))
}

/**
 * What a record says about its downgrade: false when it went by iMessage, true when the line could have used
 * iMessage and the recipient could not, null when the line never had it.
 */
export function wasDowngraded(line: readonly Service[], used: Service): boolean | null {
  if (used === 'iMessage') return false
  return line.includes('iMessage') ? true : null
}
