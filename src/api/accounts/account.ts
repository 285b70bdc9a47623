import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { companyIdOf } from '../../services/calls/calls.js'
import type { Ctx } from '../../services/ctx.js'
import { accountOf } from '../http/auth.js'
import { type Routes, routesOf } from '../http/routes.js'
import { nullable, string } from '../http/schemas.js'

const route = routesOf('Account', { access: 'account' })

export function registerAccount(app: Routes, _ctx: Ctx): void {
  app.get(
    '/account',
    route({
      summary: 'Show the account of the key',
      response: {
        200: Type.Object({
          status: string('OK'),
          email: string('Account identifier; accountEmail of messages and events'),
          name: string('Company or person'),
          plan: string('Plan'),
          world: string('live, or test for a test key'),
          company_id: string('The account as a UUID, as in call events'),
          default_forwarding_number: nullable(
            'string',
            'Number that rings when neither a seat nor the line has a forwarding number',
          ),
          created_at: string('When it was created'),
        }),
      },
    }),
    async (request) => {
      const account = accountOf(request)
      return {
        status: 'OK',
        email: account.email,
        name: account.name,
        plan: account.plan,
        world: account.world,
        company_id: companyIdOf(account),
        default_forwarding_number: account.defaultForwardingNumber,
        created_at: formatTime(account.createdAt),
      }
    },
  )
}
