import { Type } from 'typebox'
import { BUDGET_NAMES, BUDGETS, type BudgetName } from '../../core/accounts/budgets.js'
import { type BudgetUse, usageOf } from '../../services/accounts/budgets.js'
import type { Ctx } from '../../services/ctx.js'
import { accountOf } from '../http/auth.js'
import { renderer } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { boolean, integer, listOf, oneOf, string } from '../http/schemas.js'

const route = routesOf('Account', { access: 'account' })

export const UseWire = Type.Object(
  {
    name: oneOf<BudgetName>(BUDGET_NAMES, 'Name of the budget'),
    used: integer('How much of it is used'),
    limit: integer('How much may be used'),
    unit: string('Unit of both'),
    set_by: oneOf<BudgetUse['setBy']>(['account', 'plan', 'default'], 'Who set the limit'),
    about: string('What is counted'),
    counted: oneOf(
      ['process', 'database'],
      'process: in the memory of each process, and `used` is that of the one that answers; database: with what is stored',
    ),
    shared: boolean('Whether the account, its test account and its worlds share one count'),
  },
  { title: 'BudgetUse' },
)
export const useWire = renderer<BudgetUse>()(UseWire, {
  unit: ({ name }) => BUDGETS[name].unit,
  about: ({ name }) => BUDGETS[name].about,
  counted: ({ name }) => BUDGETS[name].counted,
  shared: ({ name }) => BUDGETS[name].isShared,
})

/** The use of budgets by the account of the key. */
export function registerUsage(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/usage',
    route({
      operationId: 'getUsage',
      summary: 'Show what the account uses of its budgets',
      description:
        'Of the account of the key: the live account, its test account or a world. Over a limit, requests are answered with 429 (413 for media, 503 for messages that wait), Retry-After and the name of the budget.',
      response: { 200: listOf(UseWire) },
    }),
    async (request) => ({ data: (await usageOf(ctx, accountOf(request).id)).map(useWire) }),
  )
}
