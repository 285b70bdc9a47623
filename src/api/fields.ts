import { urlRules } from '../config.js'
import { toForwardingNumber } from '../core/call-forwarding.js'
import { AppError } from '../core/errors.js'
import { toE164 } from '../core/phone.js'
import { urlFault } from '../core/url.js'
import type { Ctx } from '../ctx.js'

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

/** A URL we will call later: refused now if it never could be called. */
export function checkUrl(ctx: Ctx, field: string, url: string | undefined): void {
  const fault = url ? urlFault(url, urlRules(ctx.config)) : undefined
  if (fault) throw new AppError('invalid', `${field}: ${fault}`)
}
