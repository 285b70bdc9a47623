import { BUDGET_NAMES } from '../../core/accounts/budgets.js'
import { type Args, clearable, repeatable, texts, UsageError } from '../args.js'
import { type Command, command, type Fields } from '../command.js'

const BUDGET = repeatable(
  `a limit as name=number, or name=none for the usual one; names: ${BUDGET_NAMES.join(', ')}`,
)

/** The limits of the option --budget, for a request. */
function budgetsIn(args: Args): Fields | undefined {
  const given = texts(args, 'budget')
  if (given.length === 0) return undefined
  return Object.fromEntries(
    given.map((one) => {
      const [, name, value] = /^([a-z]+)=(none|\d{1,15})$/.exec(one) ?? []
      if (!BUDGET_NAMES.some((known) => known === name))
        throw new UsageError(`--budget must be name=number or name=none, not "${one}"`)
      return [name, value === 'none' ? null : Number(value)]
    }),
  )
}

export const BUDGET_COMMANDS: readonly Command[] = [
  command({
    name: 'account set',
    summary: 'Change the settings of an account',
    positional: 'id',
    options: {
      'default-forwarding-number': clearable(
        'rings on calls for which neither a seat nor the line has a number; none removes it',
      ),
      budget: BUDGET,
    },
    examples: ['<id> --default-forwarding-number +12025550111', '<id> --budget contacts=5000'],
    request: 'PATCH /admin/accounts/:id',
    body: (args) => ({
      default_forwarding_number: args.values['default-forwarding-number'],
      budgets: budgetsIn(args),
    }),
  }),
  command({
    name: 'account usage',
    summary: 'Show what an account uses of its budgets',
    positional: 'id',
    examples: ['<id>'],
    request: 'GET /admin/accounts/:id/usage',
    columns: 'name used limit unit set_by about',
  }),
  command({
    name: 'plan list',
    summary: 'List plans that have budgets of their own',
    examples: ['--json'],
    request: 'GET /admin/plans',
    columns: 'name budgets',
    row: ({ name, budgets }) => ({ name, budgets: JSON.stringify(budgets) }),
  }),
  command({
    name: 'plan set',
    summary: 'Set the budgets of all accounts with a plan',
    positional: 'name',
    options: { budget: BUDGET },
    examples: ['free --budget requests=50 --budget media=100000000'],
    request: 'PATCH /admin/plans/:id',
    body: (args) => ({ budgets: budgetsIn(args) ?? {} }),
  }),
]
