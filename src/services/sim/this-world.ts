import { LineFault } from '../../core/lines/fault.js'
import type { Line } from '../../core/lines/line.js'
import { MissingValue } from '../../storage/engine/db.js'

/** For a write that requires its lines to be as they were when it began: to the carrier it is a fault. */
export async function inThisWorld<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof MissingValue)) throw error
    throw new LineFault('unreachable', 'The world or the connection of this line was begun anew')
  }
}

/** The lines of these, each once. */
export function linesOf(items: readonly { line: Line }[]): Line[] {
  return [...new Map(items.map(({ line }) => [line.id, line])).values()]
}
