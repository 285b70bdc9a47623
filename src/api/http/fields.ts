import { parseBound } from '../../base/time.js'
import { urlRules } from '../../config.js'
import { toForwardingNumber } from '../../core/calls/forwarding.js'
import { AppError } from '../../core/errors.js'
import { parseMediaUrl } from '../../core/media/media.js'
import { toE164 } from '../../core/phone-number.js'
import { urlFault } from '../../core/url.js'
import type { Ctx } from '../../services/ctx.js'

/** Fields that many routes have, checked in one place. */

export function requirePhone(field: string, text: string): string {
  const number = toE164(text)
  if (!number) throw new AppError('invalid', `${field}: must be a phone number in E.164, like +12025550101`)
  return number
}

/** A number that calls may be forwarded to, as people write it. */
export function requireForwarding(field: string, text: string): string {
  const result = toForwardingNumber(text)
  if ('fault' in result) throw new AppError('invalid', `${field}: ${result.fault}`)
  return result.number
}

/** The bound of a range. */
export function requireTime(field: string, text: string): number {
  const time = parseBound(text)
  if (time === undefined) {
    throw new AppError(
      'invalid',
      `${field}: must be an ISO 8601 date, or date and time with Z or an offset, like 2026-01-31T09:30:00Z`,
    )
  }
  return time
}

const EMAIL = /^[^\s@,]{1,64}@[^\s@,]{1,190}\.[^\s@,.]{2,63}$/

/** Where iMessage reaches a person: a phone number, or an e-mail address. */
export function requireHandle(field: string, text: string): string {
  const handle = EMAIL.test(text) ? text.toLowerCase() : toE164(text)
  if (!handle)
    throw new AppError(
      'invalid',
      `${field}: must be a phone number in E.164, like +12025550101, or an e-mail address`,
    )
  return handle
}

/** A URL we will call later: refused now if it never could be called. Our own media is fine wherever we are. */
export function checkUrl(ctx: Ctx, field: string, url: string | undefined): void {
  if (!url || parseMediaUrl(ctx.publicUrl(), url)) return
  const fault = urlFault(url, urlRules(ctx.config))
  if (fault) throw new AppError('invalid', `${field}: ${fault}`)
}

/** Puts the field in front of what turned out to be wrong with it. */
export async function aboutField<T>(field: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const isFault = error instanceof AppError && (error.code === 'invalid' || error.code === 'too_large')
    throw isFault ? new AppError(error.code, `${field}: ${error.message}`) : error
  }
}

/** The fields of a body that were given. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
