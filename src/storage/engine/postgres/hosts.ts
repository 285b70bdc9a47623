import { hostUrls } from '../../../core/database-url.js'

/** The servers of a database, of which one can write. New connections go to the one that worked last. */
export interface Hosts {
  readonly count: number
  /** URL of the server to connect to. */
  current(): string
  /** Notes that a server cannot be used now: the next one is current. */
  leave(url: string): void
}

export function createHosts(url: string): Hosts {
  const urls = hostUrls(url)
  let at = 0
  return {
    count: urls.length,
    current: () => urls[at]!,
    leave(left) {
      // Connections fail in groups; only the first of a group moves on.
      if (urls[at] === left) at = (at + 1) % urls.length
    },
  }
}
