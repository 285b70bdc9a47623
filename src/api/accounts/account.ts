import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { companyIdOf } from '../../services/calls/calls.js'
import type { Ctx } from '../../services/ctx.js'
import { accountOf } from '../http/auth.js'
import type { Routes } from '../http/routes.js'
import { nullable } from '../messages/wire.js'

export function registerAccount(app: Routes, _ctx: Ctx): void {
  app.get(
    '/account',
    {
      config: { access: 'account' },
      schema: {
        tags: ['Account'],
        summary: 'Whose keys these are',
        response: {
          200: Type.Object({
            status: Type.String({ description: 'OK' }),
            email: Type.String({ description: 'Account identifier; accountEmail of messages and events' }),
            name: Type.String({ description: 'Company or person' }),
            plan: Type.String({ description: 'Plan' }),
            world: Type.String({ description: 'live, or test for a test key' }),
            company_id: Type.String({ description: 'The account as a UUID, as events name it' }),
            default_forwarding_number: nullable(
              'string',
              'Where calls go that neither a seat nor a line has a number for',
            ),
            created_at: Type.String({ description: 'When it was made' }),
          }),
        },
      },
    },
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
