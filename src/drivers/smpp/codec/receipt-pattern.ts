import { boundedPattern } from '../../../core/bounded-pattern.js'
import type { ReceiptReader } from './receipt-text.js'

/** Between two receipts other lines must have their turn. */
const MAX_MS = 100

/**
 * Reads receipts by a line's own pattern, with groups named id, stat and err. One that takes too long is given up
 * for good, and `tooSlow` is told.
 */
export function patternReader(pattern: string, tooSlow: () => void): ReceiptReader {
  let search: ReturnType<typeof boundedPattern> | undefined = boundedPattern(
    'receipt_pattern',
    pattern,
    MAX_MS,
  )
  return (text) => {
    if (!search) return undefined
    try {
      const named = search([text])[0]?.named
      if (!named?.id) return undefined
      const { id, stat, err } = named
      return { id: id.slice(0, 65), ...(stat ? { stat: stat.toUpperCase() } : {}), ...(err ? { err } : {}) }
    } catch {
      search = undefined
      tooSlow()
      return undefined
    }
  }
}
