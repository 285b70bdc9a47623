import { AppError } from '../../../core/errors.js'
import { MissingValue, RowsLocked, UniqueViolation } from '../db.js'

/** What errors of PostgreSQL mean: is the session of use, may the transaction run again, what does the caller hear. */

/** A session that sees one of these cannot write, or ends: 25006 after a demotion, 57P01 when the server stops. */
const LOST = /^(08|57P0|25006|25P03)/
const SOCKET = /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_AGAIN|ENOENT)/
const LOST_WORDS = /Connection terminated|connection is closed|not queryable|read ECONN/i

/**
 * PostgreSQL has undone the transaction, and another try may succeed: deadlock, lock time-out, a pause of this process
 * for longer than a transaction may be idle.
 */
const UNDONE = /^(40P01|40001|55P03|25P03)$/

const LOCKED = /^(55P03|40P01)$/
/** A statement took too long, or the server has no memory, disk space or connections left (class 53). */
const BUSY = /^(57014|40001|53...)$/

/** Counts for the operator. */
export type DatabaseFaults = Record<'lost_session' | 'silent_connection' | 'repeated_transaction', number>

export function codeOf(error: unknown): string {
  return (error as { code?: string } | undefined)?.code ?? ''
}

/** Whether PostgreSQL itself said this, instead of the network. */
export function isServersWord(error: unknown): boolean {
  return typeof (error as { severity?: unknown }).severity === 'string'
}

/** Whether the session that saw this error must not be used again. */
export function isConnectionLoss(error: unknown): boolean {
  const code = codeOf(error)
  if (LOST.test(code) || SOCKET.test(code)) return true
  return LOST_WORDS.test((error as { message?: string }).message ?? '')
}

export function isUndone(error: unknown): boolean {
  return UNDONE.test(codeOf(error)) || isStalePlan(error)
}

/** Another process has added a column to a table of a prepared `select *`. A new session has no plan. */
export function isStalePlan(error: unknown): boolean {
  return codeOf(error) === '0A000' && (error as Error).message.includes('cached plan')
}

/** What an operator has to mend. */
export function troubleOf(error: unknown): string | undefined {
  return codeOf(error) === '53100' ? 'The disk of the database is full.' : undefined
}

/** The error that callers of the storage see. The database's own text is the cause. */
export function translate(error: unknown): unknown {
  if (error instanceof AppError) return error
  const code = codeOf(error)
  if (code === '23505') return new UniqueViolation(error)
  if (code === '23502') return new MissingValue(error)
  if (LOCKED.test(code)) return new RowsLocked(error)
  if (BUSY.test(code)) return unavailable('The database is busy at the moment. Try again.', error)
  if (isConnectionLoss(error))
    return unavailable('The database cannot be reached at the moment. Try again.', error)
  return error
}

function unavailable(text: string, cause: unknown): AppError {
  return Object.assign(new AppError('unavailable', text, { retryAfterMs: 1000 }), { cause })
}
