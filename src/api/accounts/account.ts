import { Type } from 'typebox'
import type { Account } from '../../core/accounts/account.js'
import { companyIdOf } from '../../services/calls/calls.js'
import { accountOf } from '../http/auth.js'
import { renderer } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { nullable, string } from '../http/schemas.js'

const route = routesOf('Account', { access: 'account' })

const AccountWire = Type.Object(
  {
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
  },
  { title: 'Account' },
)
const accountWire = renderer<Account>()(AccountWire, { status: () => 'OK', company_id: companyIdOf })

export function registerAccount(app: Routes): void {
  app.get(
    '/account',
    route({
      operationId: 'getAccount',
      summary: 'Show the account of the key',
      response: { 200: AccountWire },
    }),
    async (request) => accountWire(accountOf(request)),
  )
}
