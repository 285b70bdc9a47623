import { Type } from 'typebox'
import { BUDGET_NAMES, BUDGETS, type BudgetName } from '../../core/accounts/budgets.js'
import { changePlan, usageOf } from '../../services/accounts/budgets.js'
import type { Ctx } from '../../services/ctx.js'
import { listPlans, type Plan } from '../../storage/accounts/budgets.js'
import { UseWire, useWire } from '../accounts/usage.js'
import type { Routes } from '../http/routes.js'
import { integer, listOf, nullable, optional, string } from '../http/schemas.js'
import { admin, IdParams } from './shared.js'

const fields = <T>(field: (description: string) => T) =>
  Object.fromEntries(
    BUDGET_NAMES.map((name) => {
      const { about, unit, limit } = BUDGETS[name]
      return [name, field(`${about}. In ${unit}; default ${limit}`)]
    }),
  ) as Record<BudgetName, T>

export const OwnBudgets = Type.Object(
  fields((description) => optional(integer(description))),
  {
    title: 'Budgets',
    description:
      'Limits that are set here; a budget that is not in it has the limit of the plan, or its default',
  },
)
export const BudgetChanges = Type.Object(
  fields((description) =>
    optional(nullable('integer', `${description}; null: not set here`, { minimum: 0, maximum: 1e15 })),
  ),
  {
    title: 'BudgetChanges',
    description: 'Limits to set. Budgets that are not named stay as they are',
    additionalProperties: false,
  },
)

const PlanWire = Type.Object({ name: string('Name of the plan'), budgets: OwnBudgets }, { title: 'Plan' })
const planWire = ({ name, budgets }: Plan) => ({ name, budgets: budgets as Record<BudgetName, number> })

/** The use of budgets by accounts, and the limits of plans. Limits of an account are set with the account. */
export function registerAdminBudgets(app: Routes, ctx: Ctx): void {
  app.get(
    '/admin/accounts/:id/usage',
    admin({
      operationId: 'getAccountUsage',
      summary: 'Show what an account uses of its budgets',
      description:
        'Of a live account, a test account or a world. Over a limit, requests are answered with 429 (413 for media, 503 for messages that wait), Retry-After and the name of the budget.',
      params: IdParams,
      response: { 200: listOf(UseWire) },
    }),
    async (request) => ({ data: (await usageOf(ctx, request.params.id)).map(useWire) }),
  )
  app.get(
    '/admin/plans',
    admin({
      operationId: 'listPlans',
      summary: 'List plans that have budgets of their own',
      response: { 200: listOf(PlanWire) },
    }),
    async () => ({ data: (await listPlans(ctx.db)).map(planWire) }),
  )
  app.patch(
    '/admin/plans/:name',
    admin({
      operationId: 'updatePlan',
      summary: 'Set the budgets of a plan',
      description:
        'For all accounts with this plan that have no limit of their own. The plan need not exist.',
      params: Type.Object({ name: string('Name of the plan', { minLength: 1, maxLength: 50 }) }),
      example: { budgets: { requests: 100 } },
      body: Type.Object({ budgets: BudgetChanges }),
      response: { 200: PlanWire },
    }),
    async (request) => planWire(await changePlan(ctx, request.params.name, request.body.budgets)),
  )
}
