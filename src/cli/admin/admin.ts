import {
  type Args,
  clearable,
  flag,
  inField,
  type OptionTable,
  onePositional,
  required,
  text,
  UsageError,
} from '../args.js'
import { type Command, command, type Fields } from '../command.js'
import { builtInDrivers, refuseSecrets } from '../lines/drivers.js'
import { LINE_OPTIONS, NEW_LINE, newLine } from '../lines/options.js'

/** Something that an operator creates, lists, shows and removes. */
interface Resource {
  name: string
  summary: string
  columns: string
  /** An id, for the examples. */
  example: string
  removal: 'remove' | 'revoke'
  isOfAccount: boolean
  create: OptionTable
  creates: string[]
  body?(args: Args): Fields | Promise<Fields>
  /** Options of the command that changes it. */
  set?: OptionTable
  sets?: string
}

const FORWARDING = 'rings on calls to lines assigned to this seat'

const RESOURCES: Resource[] = [
  {
    name: 'account',
    summary: 'an account',
    columns: 'id email name plan',
    example: '4fT0aQ81Zk',
    removal: 'remove',
    isOfAccount: false,
    create: {
      email: required('identifies the account on the wire'),
      name: 'company or person',
      plan: 'dedicated (default), free or a name of your own',
    },
    creates: ['--email you@example.com --name "Example Inc."'],
    set: {
      'default-forwarding-number': clearable(
        'rings on calls for which neither a seat nor the line has a number; none removes it',
      ),
    },
    sets: '<id> --default-forwarding-number +12025550111',
  },
  {
    name: 'key',
    summary: 'a key',
    columns: 'id kind account_id label revoked_at',
    example: 'tlk_4fT0aQ',
    removal: 'revoke',
    isOfAccount: true,
    create: {
      account: 'id of the account',
      test: flag("a key of the account's test world"),
      admin: flag('an operator key, which belongs to no account'),
      label: 'what it is for',
    },
    creates: ['--account <id>', '--account <id> --test', '--admin --offline'],
    body({ values: { account, test, admin, label } }) {
      if ((admin === true) === (account !== undefined))
        throw new UsageError('Give either --account or --admin')
      return { account_id: account, kind: admin ? 'admin' : test ? 'test' : 'live', label }
    },
  },
  {
    name: 'line',
    summary: 'a line',
    columns: 'id number kind world driver pace on_unknown driven_here',
    example: '4fT0aQ81Zk',
    removal: 'remove',
    isOfAccount: true,
    create: {
      ...NEW_LINE,
      driver: 'carrier (default simulator); "line add" asks for what each driver needs',
      ...LINE_OPTIONS,
    },
    creates: ['--account <id> --number +12025550110 --pace 5'],
    async body(args) {
      const { driver, config } = args.values
      refuseSecrets(
        (await builtInDrivers()).find(({ kind }) => kind === driver),
        config,
      )
      return { ...newLine(args), driver }
    },
  },
  {
    name: 'seat',
    summary: 'a seat',
    columns: 'id email account_id first_name last_name',
    example: '0197a2c4-6f1e-7000-8000-000000000000',
    removal: 'remove',
    isOfAccount: true,
    create: {
      account: inField('account_id', required('id of the account')),
      email: required("the user's e-mail address"),
      subject: "the user's id at an external identity provider",
      'first-name': 'first name',
      'last-name': 'last name',
      'forwarding-number': FORWARDING,
    },
    creates: ['--account <id> --email ada@example.com'],
    set: { 'forwarding-number': clearable(`${FORWARDING}; none removes it`) },
    sets: '<id> --forwarding-number +12025550111',
  },
]

function commandsOf({
  name,
  summary,
  columns,
  example,
  removal,
  isOfAccount,
  ...resource
}: Resource): Command[] {
  const path = `/admin/${name}s`
  return [
    command({
      name: `${name} create`,
      summary: `Create ${summary}${name === 'account' ? ' and its test world' : ''}`,
      options: resource.create,
      examples: resource.creates,
      request: `POST ${path}`,
      ...(resource.body && { body: resource.body }),
    }),
    command({
      name: `${name} list`,
      summary: `List ${name}s`,
      options: isOfAccount ? { account: inField('account_id', 'only of this account') } : {},
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
      name: `${name} ${removal}`,
      summary: removal === 'revoke' ? 'Revoke a key at once' : `Remove ${summary}`,
      positional: 'id',
      examples: [example],
      request: `DELETE ${path}/:id`,
      record: (answer, { positionals }) => answer ?? { id: positionals[0], removed: true },
    }),
  ]
}

const setCommands = RESOURCES.flatMap(({ name, set, sets }) =>
  set === undefined
    ? []
    : command({
        name: `${name} set`,
        summary: `Change the settings of ${name === 'account' ? 'an account' : `a ${name}`}`,
        positional: 'id',
        options: set,
        examples: [sets!],
        request: `PATCH /admin/${name}s/:id`,
      }),
)

const account = inField('account_id', required('id of the account'))

export const ADMIN_COMMANDS: readonly Command[] = [
  ...RESOURCES.flatMap(commandsOf),
  ...setCommands,
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
