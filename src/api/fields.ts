import { urlRules } from '../config.js'
import { AppError } from '../core/errors.js'
import { toE164 } from '../core/phone.js'
import { parseTime } from '../core/time.js'
import { urlFault } from '../core/url.js'
import type { Ctx } from '../ctx.js'

/** Fields that many routes have, checked in one place. */

export function requirePhone(field: string, text: string): string {
  const number = toE164(text)
  if (!number) throw new AppError('invalid', `${field}: must be a phone number in E.164, like +12025550101`)
  return number
}

export function requireTime(field: string, text: string): number {
  const time = parseTime(text)
  if (time === undefined) {
    throw new AppError(
      'invalid',
      `${field}: must be an ISO 8601 date, or date and time with Z or an offset, like 2026-01-31T09:30:00Z`,
    )
  }
  return time
}

/** A URL we will call later: refused now if it never could be called. */
export function checkUrl(ctx: Ctx, field: string, url: string | undefined): void {
  const fault = url ? urlFault(url, urlRules(ctx.config)) : undefined
  if (fault) throw new AppError('invalid', `${field}: ${fault}`)
}
