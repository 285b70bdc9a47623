import type { LookupAddress } from 'node:dns'
import type { Lookup } from '../../../src/services/webhooks/door/guard.js'

export const PUBLIC: LookupAddress = { address: '93.184.216.34', family: 4 }
export const LOOPBACK: LookupAddress = { address: '127.0.0.1', family: 4 }

/**
 * A resolver that knows only these names and counts how often it is asked. Of several answers each is given once,
 * the last one for ever.
 */
export function names(table: Record<string, LookupAddress[][]>) {
  const asked: string[] = []
  const lookup: Lookup = (hostname, _options, callback) => {
    asked.push(hostname)
    const answers = table[hostname]
    const answer = answers && (answers.length > 1 ? answers.shift()! : answers[0]!)
    setImmediate(() => (answer ? callback(null, answer) : callback(new Error('ENOTFOUND'), [])))
  }
  return { lookup, asked }
}
