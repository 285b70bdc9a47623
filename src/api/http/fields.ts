import { parseBound } from '../../base/time.js'
import { toForwardingNumber } from '../../core/calls/forwarding.js'
import { AppError } from '../../core/errors.js'
import { parseMediaUrl } from '../../core/media/media.js'
import { toE164 } from '../../core/phone-number.js'
import { urlFault } from '../../core/url.js'
import type { Ctx } from '../../services/ctx.js'

/** Checks of fields that many routes have. */

export function requirePhone(field: string, text: string): string {
  const number = toE164(text)
  if (!number) throw new AppError('invalid', `${field}: must be a phone number in E.164, like +12025550101`)
  return number
}

/** A number to forward calls to, in E.164 or US national format. */
export function requireForwarding(field: string, text: string): string {
  const result = toForwardingNumber(text)
  if ('fault' in result) throw new AppError('invalid', `${field}: ${result.fault}`)
  return result.number
}

/** The bound of a time range. */
export function requireTime(field: string, text: string): number {
  const time = parseBound(text)
  if (time === undefined) {
    throw new AppError(
      'invalid',
      `${field}: must be an ISO 8601 date, or date and time, like 2026-01-31T09:30:00Z; without a zone it is UTC`,
    )
  }
  return time
}

const EMAIL = /^[^\s@,]{1,64}@[^\s@,]{1,190}\.[^\s@,.]{2,63}$/

/** An iMessage address: a phone number, or an e-mail address. */
export function requireHandle(field: string, text: string): string {
  const handle = EMAIL.test(text) ? text.toLowerCase() : toE164(text)
  if (!handle)
    throw new AppError(
      'invalid',
      `${field}: must be a phone number in E.164, like +12025550101, or an e-mail address`,
    )
  return handle
}

/** Refuses a URL that the server could never call later. URLs of the server's own media are always allowed. */
export function checkUrl(ctx: Ctx, field: string, url: string | undefined): void {
  if (!url || parseMediaUrl(ctx.publicUrl(), url)) return
  const fault = urlFault(url, ctx.urlRules)
  if (fault) throw new AppError('invalid', `${field}: ${fault}`)
}

/** Prefixes errors of the work with the field they are about. */
export async function aboutField<T>(field: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const isFault = error instanceof AppError && (error.code === 'invalid' || error.code === 'too_large')
    throw isFault ? new AppError(error.code, `${field}: ${error.message}`, error.options) : error
  }
}

/** The fields of a body that were given. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
