import { type BoundedSearch, boundedPattern } from '../../../core/bounded-pattern.js'
import type { ReceiptReader } from './receipt-text.js'

/**
 * Reads receipts with the line's own pattern, which has groups named id, stat and err. A pattern that takes too
 * long is dropped for good, and `onTooSlow` is called.
 */
export function patternReader(lineId: string, pattern: string, onTooSlow: () => void): ReceiptReader {
  const search: BoundedSearch = boundedPattern(lineId, 'receipt_pattern', pattern, ['id', 'stat', 'err'])
  let isSlow = false
  return async (text) => {
    if (isSlow) return undefined
    try {
      const named = (await search([text]))[0]?.named
      if (!named?.id) return undefined
      const { id, stat, err } = named
      return { id: id.slice(0, 65), ...(stat ? { stat: stat.toUpperCase() } : {}), ...(err ? { err } : {}) }
    } catch {
      if (!isSlow) onTooSlow()
      isSlow = true
      return undefined
    }
  }
}
