import { type Call, CLIENT_OPTIONS, withClient } from '../client.js'
import { type Args, type Command, needed, onePositional, text, UsageError } from '../command.js'
import { builtInDrivers, refuseSecrets } from '../lines/drivers.js'
import { printRecord, printTable } from '../output.js'
import { SET_COMMANDS, settingOptions, settings } from './set.js'

/** Administration: each command is one call of an admin route. */

type Fields = Record<string, unknown>

interface Resource {
  name: string
  path: string
  columns: string[]
  filter?: boolean
  /** What its removal is called. */
  removal: 'remove' | 'revoke'
  create: Pick<Command, 'options' | 'examples'> & { body(args: Args): Fields | Promise<Fields> }
  example: string
}

const RESOURCES: Resource[] = [
  {
    name: 'account',
    path: '/admin/accounts',
    columns: ['id', 'email', 'name', 'plan'],
    removal: 'remove',
    example: '4fT0aQ81Zk',
    create: {
      options: {
        email: { type: 'string', help: 'identifies the account on the wire' },
        name: { type: 'string', help: 'company or person' },
        plan: { type: 'string', help: 'dedicated (default), free or a name of your own' },
      },
      examples: ['trunkline account create --email you@example.com --name "Example Inc."'],
      body: (args) => ({ email: needed(args, 'email'), name: text(args, 'name'), plan: text(args, 'plan') }),
    },
  },
  {
    name: 'key',
    path: '/admin/keys',
    columns: ['id', 'kind', 'account_id', 'label', 'revoked_at'],
    filter: true,
    removal: 'revoke',
    example: 'tlk_4fT0aQ',
    create: {
      options: {
        account: { type: 'string', help: 'id of the account' },
        test: { type: 'boolean', help: "opens the account's test world" },
        admin: { type: 'boolean', help: 'an operator key, of no account' },
        label: { type: 'string', help: 'what it is for' },
      },
      examples: [
        'trunkline key create --account <id>',
        'trunkline key create --account <id> --test',
        'trunkline key create --admin --offline',
      ],
      body(args) {
        const admin = args.values.admin === true
        if (admin === (text(args, 'account') !== undefined))
          throw new UsageError('Give either --account or --admin')
        return {
          account_id: text(args, 'account'),
          kind: admin ? 'admin' : args.values.test ? 'test' : 'live',
          label: text(args, 'label'),
        }
      },
    },
  },
  {
    name: 'line',
    path: '/admin/lines',
    columns: ['id', 'number', 'kind', 'world', 'driver', 'pace', 'on_unknown', 'driven_here'],
    filter: true,
    removal: 'remove',
    example: '4fT0aQ81Zk',
    create: {
      options: {
        account: { type: 'string', help: 'owner, or first member of a shared line' },
        number: { type: 'string', help: 'E.164' },
        shared: { type: 'boolean', help: 'several accounts may use it' },
        driver: { type: 'string', help: 'carrier (default simulator); line add asks for what each needs' },
        ...settingOptions(),
      },
      examples: ['trunkline line create --account <id> --number +12025550110 --pace 5'],
      async body(args) {
        const body = {
          account_id: needed(args, 'account'),
          number: needed(args, 'number'),
          kind: args.values.shared ? 'shared' : 'dedicated',
          driver: text(args, 'driver'),
          ...settings(args),
        }
        const driver = (await builtInDrivers()).find(({ kind }) => kind === body.driver)
        refuseSecrets(driver, (body as Fields).config)
        return body
      },
    },
  },
  {
    name: 'seat',
    path: '/admin/seats',
    columns: ['id', 'email', 'account_id', 'first_name', 'last_name'],
    filter: true,
    removal: 'remove',
    example: '0197a2c4-6f1e-7000-8000-000000000000',
    create: {
      options: {
        account: { type: 'string', help: 'id of the account' },
        email: { type: 'string', help: "the user's e-mail address" },
        subject: { type: 'string', help: 'their id at an outside identity provider' },
        'first-name': { type: 'string', help: 'first name' },
        'last-name': { type: 'string', help: 'last name' },
        'forwarding-number': { type: 'string', help: 'rings on calls to lines assigned to this seat' },
      },
      examples: ['trunkline seat create --account <id> --email ada@example.com'],
      body: (args) => ({
        account_id: needed(args, 'account'),
        email: needed(args, 'email'),
        subject: text(args, 'subject'),
        first_name: text(args, 'first-name'),
        last_name: text(args, 'last-name'),
        forwarding_number: text(args, 'forwarding-number'),
      }),
    },
  },
]

function commandsOf(resource: Resource): Command[] {
  const { name, path, columns, removal } = resource
  const show = (args: Args, record: unknown) => printRecord(args, record as Fields)
  const call = (args: Args, work: (call: Call) => Promise<void>) => withClient(args, work)
  return [
    {
      name: `${name} create`,
      summary: `Create ${name === 'account' ? 'an account and its test world' : `a ${name}`}`,
      options: { ...resource.create.options, ...CLIENT_OPTIONS },
      examples: resource.create.examples,
      async run(args) {
        const body = await resource.create.body(args)
        return call(args, async (send) => show(args, await send('POST', path, body)))
      },
    },
    {
      name: `${name} list`,
      summary: `List ${name}s`,
      options: {
        ...(resource.filter ? { account: { type: 'string', help: 'only of this account' } as const } : {}),
        ...CLIENT_OPTIONS,
      },
      examples: [`trunkline ${name} list --json`],
      run: (args) =>
        call(args, async (send) => {
          const account = text(args, 'account')
          const query = account ? `?account_id=${encodeURIComponent(account)}` : ''
          const { data } = (await send('GET', path + query)) as { data: Fields[] }
          printTable(args, data, columns)
        }),
    },
    {
      name: `${name} show`,
      summary: `Show one ${name}`,
      positional: 'id',
      options: { ...CLIENT_OPTIONS },
      examples: [`trunkline ${name} show ${resource.example}`],
      run: (args) => {
        const id = onePositional(args, name)
        return call(args, async (send) => show(args, await send('GET', `${path}/${encodeURIComponent(id)}`)))
      },
    },
    {
      name: `${name} ${removal}`,
      summary:
        removal === 'revoke'
          ? 'Revoke a key, at once'
          : `Remove ${name === 'account' ? 'an account' : `a ${name}`}`,
      positional: 'id',
      options: { ...CLIENT_OPTIONS },
      examples: [`trunkline ${name} ${removal} ${resource.example}`],
      run: (args) => {
        const id = onePositional(args, name)
        return call(args, async (send) => {
          const gone = await send('DELETE', `${path}/${encodeURIComponent(id)}`)
          show(args, (gone as Fields | null) ?? { id, removed: true })
        })
      },
    },
  ]
}

const lineShare: Command = {
  name: 'line share',
  summary: 'Let another account use a shared line',
  positional: 'id',
  options: { account: { type: 'string', help: 'id of the account' }, ...CLIENT_OPTIONS },
  examples: ['trunkline line share <id> --account <id>'],
  run: (args) => {
    const id = onePositional(args, 'line')
    const body = { account_id: needed(args, 'account') }
    return withClient(args, async (send) =>
      printRecord(
        args,
        (await send('POST', `/admin/lines/${encodeURIComponent(id)}/members`, body)) as Fields,
      ),
    )
  },
}

const lineUnshare: Command = {
  name: 'line unshare',
  summary: 'Let an account use a shared line no more',
  positional: 'id',
  options: { account: { type: 'string', help: 'id of the account' }, ...CLIENT_OPTIONS },
  examples: ['trunkline line unshare <id> --account <id>'],
  run: (args) => {
    const id = onePositional(args, 'line')
    const account = needed(args, 'account')
    return withClient(args, async (send) => {
      await send('DELETE', `/admin/lines/${encodeURIComponent(id)}/members/${encodeURIComponent(account)}`)
      printRecord(args, { id, account_id: account, removed: true })
    })
  },
}

export const ADMIN_COMMANDS: readonly Command[] = [
  ...RESOURCES.flatMap(commandsOf),
  ...SET_COMMANDS,
  lineShare,
  lineUnshare,
]
