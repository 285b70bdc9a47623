import { AppError } from '../../core/errors.js'
import { MissingValue, UniqueViolation } from './db.js'

/** Another process has added a column to a table of a prepared `select *`. */
export function isStalePlan(error: unknown): boolean {
  const { code, message = '' } = error as { code?: string; message?: string }
  return code === '0A000' && message.includes('cached plan')
}

export function isConnectionLoss(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  if (code && /^(08|57P0|53)/.test(code)) return true
  if (code && /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENOENT)/.test(code)) return true
  return /Connection terminated|timeout exceeded when trying to connect|connection is closed/i.test(
    message ?? '',
  )
}

export function translate(error: unknown): unknown {
  const { code } = error as { code?: string }
  if (code === '23505') return new UniqueViolation(error)
  if (code === '23502') return new MissingValue(error)
  if (isConnectionLoss(error)) {
    return new AppError('unavailable', 'The database cannot be reached at the moment. Try again.', {
      retryAfterMs: 1000,
    })
  }
  return error
}
