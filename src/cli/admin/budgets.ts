import { BUDGET_NAMES } from '../../core/accounts/budgets.js'
import { RETENTION_NAMES } from '../../core/accounts/retention.js'
import { type Args, clearable, repeatable, texts, UsageError } from '../args.js'
import { type Command, command, type Fields } from '../command.js'

const BUDGET = repeatable(
  `a limit as name=number, or name=none for the usual one; names: ${BUDGET_NAMES.join(', ')}`,
)

const KEEP = repeatable(
  `days after which data is removed, as name=days, or name=none to keep it; names: ${RETENTION_NAMES.join(', ')}`,
)

/** The numbers of an option like --budget, for a request. */
function numbersIn(args: Args, option: string, names: readonly string[]): Fields | undefined {
  const given = texts(args, option)
  if (given.length === 0) return undefined
  return Object.fromEntries(
    given.map((one) => {
      const [, name, value] = /^([a-z]+)=(none|\d{1,15})$/.exec(one) ?? []
      if (!names.some((known) => known === name))
        throw new UsageError(
          `--${option} must be name=number or name=none, not "${one}". Names: ${names.join(', ')}`,
        )
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
      email: 'identifies the account on the wire',
      name: 'company or person',
      plan: 'dedicated, free or a name of your own',
      'default-forwarding-number': clearable(
        'rings on calls for which neither a seat nor the line has a number; none removes it',
      ),
      budget: BUDGET,
      keep: KEEP,
    },
    examples: [
      '<id> --name "Example Ltd." --plan gold',
      '<id> --default-forwarding-number +12025550111',
      '<id> --budget contacts=5000',
      '<id> --keep messages=90 --keep media=30',
    ],
    request: 'PATCH /admin/accounts/:id',
    body: (args) => ({
      email: args.values.email,
      name: args.values.name,
      plan: args.values.plan,
      default_forwarding_number: args.values['default-forwarding-number'],
      budgets: numbersIn(args, 'budget', BUDGET_NAMES),
      retention: numbersIn(args, 'keep', RETENTION_NAMES),
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
    body: (args) => ({ budgets: numbersIn(args, 'budget', BUDGET_NAMES) ?? {} }),
  }),
]
