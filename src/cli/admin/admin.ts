import { durationMs } from '../../base/time.js'
import { clearable, flag, inField, onePositional, required, text, UsageError } from '../args.js'
import { type Command, command, type RequestDescription } from '../command.js'
import { builtInDrivers, refuseSecrets } from '../lines/drivers.js'
import { offerKeys } from '../lines/keys-first.js'
import { LINE_OPTIONS, NEW_LINE, newLine } from '../lines/options.js'
import { BUDGET_COMMANDS } from './budgets.js'
import { LOSSES } from './losses.js'

/** The commands that create, list, show and remove something. `example` is an id for their examples. */
function resource(
  name: keyof typeof LOSSES,
  columns: string,
  example: string,
  create: Pick<RequestDescription, 'options' | 'examples' | 'body'>,
): Command[] {
  const path = `/admin/${name}s`
  const isAccount = name === 'account'
  const one = isAccount ? 'an account' : `a ${name}`
  const isKey = name === 'key'
  return [
    command({
      name: `${name} create`,
      summary: `Create ${one}${isAccount ? ' and its test world' : ''}`,
      request: `POST ${path}`,
      ...create,
    }),
    command({
      name: `${name} list`,
      summary: `List ${name}s`,
      options: isAccount ? {} : { account: inField('account_id', 'only of this account') },
      examples: ['--json'],
      request: `GET ${path}`,
      columns,
    }),
    command({
      name: `${name} show`,
      summary: `Show one ${name}`,
      positional: 'id',
      examples: [example],
      request: `GET ${path}/:id`,
    }),
    command({
      name: `${name} ${isKey ? 'revoke' : 'remove'}`,
      summary: isKey ? 'Revoke a key at once' : `Remove ${one}`,
      positional: 'id',
      examples: [example],
      request: `DELETE ${path}/:id`,
      loss: async (args, call) =>
        LOSSES[name](await call('GET', `${path}/${encodeURIComponent(onePositional(args, 'id'))}`), call),
      record: (answer, { positionals }) => answer ?? { id: positionals[0], removed: true },
    }),
  ]
}

const account = inField('account_id', required('id of the account'))
const FORWARDING = 'rings on calls to lines assigned to this seat'

export const ADMIN_COMMANDS: readonly Command[] = [
  ...resource('account', 'id email name plan', '4fT0aQ81Zk', {
    options: {
      email: required('identifies the account on the wire'),
      name: 'company or person',
      plan: 'dedicated (default), free or a name of your own',
    },
    examples: ['--email you@example.com --name "Example Inc."'],
  }),
  ...resource('key', 'id kind account_id label expires_at revoked_at', 'tlk_4fT0aQ', {
    options: {
      account: 'id of the account',
      test: flag("a key of the account's test world"),
      admin: flag('an operator key, which belongs to no account'),
      label: 'what it is for',
    },
    examples: ['--account <id>', '--account <id> --test', '--admin --offline'],
    body({ values: { account, test, admin, label } }) {
      if ((admin === true) === (account !== undefined))
        throw new UsageError('Give either --account or --admin')
      return { account_id: account, kind: admin ? 'admin' : test ? 'test' : 'live', label }
    },
  }),
  command({
    name: 'key rotate',
    summary: 'Replace a key by a new one; both work until the overlap is over',
    positional: 'id',
    options: {
      overlap: {
        type: 'string',
        help: 'how long the old key still works, like 1h or 7d, at most 30d (default 1d)',
        demand: 'must be a time like 1h or 7d',
        parse: (value) => durationMs(value),
      },
    },
    examples: ['tlk_4fT0aQ', 'tlk_4fT0aQ --overlap 7d'],
    request: 'POST /admin/keys/:id/rotate',
    body: ({ values: { overlap } }) =>
      overlap === undefined ? {} : { overlap_seconds: Math.ceil(Number(overlap) / 1000) },
  }),
  ...resource('line', 'id number kind world driver pace on_unknown driven_here', '4fT0aQ81Zk', {
    options: {
      ...NEW_LINE,
      driver: 'carrier (default simulator); "line add" asks for what each driver needs',
      ...LINE_OPTIONS,
    },
    examples: ['--account <id> --number +12025550110 --pace 5'],
    async body(args, call) {
      const { driver, config } = args.values
      const builtIn = (await builtInDrivers()).find(({ kind }) => kind === driver)
      refuseSecrets(builtIn, config)
      const line = { ...newLine(args), driver }
      await offerKeys(args, call, line)
      return line
    },
  }),
  ...resource('seat', 'id email account_id first_name last_name', '0197a2c4-6f1e-7000-8000-000000000000', {
    options: {
      account,
      email: required("the user's e-mail address"),
      subject: "the user's id at an external identity provider",
      'first-name': 'first name',
      'last-name': 'last name',
      'forwarding-number': FORWARDING,
    },
    examples: ['--account <id> --email ada@example.com'],
  }),
  ...BUDGET_COMMANDS,
  command({
    name: 'seat set',
    summary: 'Change the settings of a seat',
    positional: 'id',
    options: { 'forwarding-number': clearable(`${FORWARDING}; none removes it`) },
    examples: ['<id> --forwarding-number +12025550111'],
    request: 'PATCH /admin/seats/:id',
  }),
  command({
    name: 'line share',
    summary: 'Let another account use a shared line',
    positional: 'id',
    options: { account },
    examples: ['<id> --account <id>'],
    request: 'POST /admin/lines/:id/members',
  }),
  command({
    name: 'line unshare',
    summary: 'Remove an account from a shared line',
    positional: 'id',
    options: { account },
    examples: ['<id> --account <id>'],
    request: 'DELETE /admin/lines/:id/members/:account',
    loss: (args) =>
      `This ends the use of the line by the account ${text(args, 'account')}: it can send from it and hears from it no more.`,
    record: (_answer, args) => ({
      id: args.positionals[0],
      account_id: text(args, 'account'),
      removed: true,
    }),
  }),
]

export const CONVERSATION_COMMANDS: readonly Command[] = [
  command({
    name: 'conversation list',
    summary: 'List conversations that are held because they look like a loop',
    examples: ['--json'],
    request: 'GET /admin/conversations/held',
    columns: 'line_id conversation account_id alternations held_until',
  }),
  command({
    name: 'conversation release',
    summary: 'Release a held conversation',
    positional: 'number or group id',
    options: {
      line: required('id of the line'),
      drop: flag('fail the held messages instead of sending them'),
    },
    examples: ['+12025550101 --line <id>'],
    request: 'POST /admin/conversations/release',
    body: (args) => ({
      conversation: onePositional(args, 'number or group id'),
      line_id: args.values.line,
      drop: args.values.drop === true,
    }),
  }),
]
