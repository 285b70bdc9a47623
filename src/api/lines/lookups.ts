import { Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import { toE164 } from '../../core/phone-number.js'
import type { Ctx } from '../../services/ctx.js'
import { evaluateService } from '../../services/lines/lookups.js'
import { actorOf } from '../http/auth.js'
import { type Routes, routesOf } from '../http/routes.js'
import { oneOf, optional, string } from '../http/schemas.js'

const route = routesOf('Lookups', { access: 'account', confined: 'to its lines' })

export function registerLookups(app: Routes, ctx: Ctx): void {
  app.get(
    '/api/evaluate-service',
    route({
      operationId: 'evaluateService',
      errors: { 422: 'No line of the account can look up addresses.' },
      summary: 'Check whether an address uses iMessage',
      description:
        "Asks one of the account's iMessage lines. iMessage does not guarantee delivery. For an e-mail address, SMS means that the address does not use iMessage. When no line can tell, the answer is 503; retry later.",
      querystring: Type.Object({
        number: optional(string('Phone number in E.164, or e-mail address')),
        from_number: optional(string('Not used', { deprecated: true })),
      }),
      response: {
        200: Type.Object({
          number: string('The address, in E.164 or in lower case'),
          service: oneOf(['iMessage', 'SMS'], 'iMessage, or SMS when the address does not use iMessage'),
        }),
      },
    }),
    async (request) => {
      const { number } = request.query
      if (!number) throw new AppError('invalid', 'missing required parameter: number')
      const address = number.includes('@') ? toEmail(number) : toE164(number)
      if (!address)
        throw new AppError('invalid', 'number: must be a phone number in E.164 or an e-mail address')
      return { number: address, service: await evaluateService(ctx, actorOf(request), address) }
    },
  )
}

/** The address in lower case. In a query string, a `+` may have become a space. */
function toEmail(text: string): string | undefined {
  const address = text.trim().replaceAll(' ', '+').toLowerCase()
  return address.length <= 254 && /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(address) ? address : undefined
}
