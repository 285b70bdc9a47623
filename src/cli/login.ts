import { text as textOf } from 'node:stream/consumers'
import { variable } from '../config.js'
import { type Args, flag, text, UsageError } from './args.js'
import { ApiError, callerOf, DEFAULT_URL, headersOf } from './client.js'
import { type Command, command } from './command.js'
import { ask, isTerminal, withoutNewline } from './lines/secrets.js'
import { printRecord, printTable } from './output.js'
import {
  DEFAULT_PROFILE,
  type Profile,
  profileFile,
  readProfiles,
  type StoredKey,
  writeProfiles,
} from './profiles.js'

const PROFILE = `name of the profile (TRUNKLINE_PROFILE; default ${DEFAULT_PROFILE})`

const nameOf = (args: Args) => text(args, 'profile') ?? (args.io.env.TRUNKLINE_PROFILE || DEFAULT_PROFILE)

const login = command({
  name: 'login',
  summary: 'Store a server and a key, which later commands use',
  options: {
    url: `server (TRUNKLINE_URL; default that of the profile, or ${DEFAULT_URL})`,
    'key-id': 'id of the key (TRUNKLINE_API_KEY_ID, or a prompt at a terminal)',
    'secret-stdin': flag('read the secret from standard input (else TRUNKLINE_API_SECRET_KEY, or a prompt)'),
    profile: PROFILE,
  },
  examples: [
    '--url https://messages.example.com',
    '--profile shop --key-id tlk_4fT0aQ --secret-stdin < secret.txt',
  ],
  async run(args) {
    const { env } = args.io
    const name = nameOf(args)
    const profiles = readProfiles(env)
    const known = profiles.get(name)
    const url = text(args, 'url') ?? env.TRUNKLINE_URL ?? known?.url ?? DEFAULT_URL
    if (!/^https?:/.test(url) || !URL.canParse(url))
      throw new UsageError(`--url must begin with http:// or https://, not "${url}"`)
    const key = await readKey(args)
    const kind = await kindOf(url, key)
    profiles.set(name, { ...(known?.url === url ? known : {}), url, [kind]: key })
    writeProfiles(env, profiles)
    printRecord(args, {
      profile: name,
      url,
      key: key.id,
      acts_for: actsFor(kind),
      stored_in: profileFile(env),
    })
  },
})

const logout = command({
  name: 'logout',
  summary: 'Forget a stored server and its keys',
  options: { profile: PROFILE },
  examples: ['', '--profile shop'],
  async run(args) {
    const name = nameOf(args)
    const profiles = readProfiles(args.io.env)
    if (!profiles.delete(name)) throw new ApiError(`There is no profile "${name}".`)
    writeProfiles(args.io.env, profiles)
    printRecord(args, { profile: name, removed: true })
  },
})

const list = command({
  name: 'profiles',
  summary: 'List stored servers, without secrets',
  examples: ['', '--json'],
  async run(args) {
    const rows = [...readProfiles(args.io.env)].map(([profile, { url, live, admin }]) => ({
      profile,
      url,
      account_key: live?.id,
      admin_key: admin?.id,
    }))
    printTable(args, rows, ['profile', 'url', 'account_key', 'admin_key'])
  },
})

export const PROFILE_COMMANDS: readonly Command[] = [login, logout, list]

async function readKey(args: Args): Promise<StoredKey> {
  const { io, values } = args
  const asked = (words: string, otherwise: string, isHidden = false) => {
    if (isTerminal(args)) return ask(args, words, isHidden)
    throw new UsageError(`${otherwise} is required, because there is no terminal to ask at`)
  }
  const id =
    text(args, 'key-id') ?? variable(io.env, 'TRUNKLINE_API_KEY_ID') ?? (await asked('Key id: ', '--key-id'))
  const secret = values['secret-stdin']
    ? withoutNewline(await textOf(io.stdin))
    : (variable(io.env, 'TRUNKLINE_API_SECRET_KEY') ?? (await asked('Secret: ', '--secret-stdin', true)))
  if (id === '' || secret === '') throw new UsageError('The key id and the secret must not be empty')
  return { id, secret }
}

const actsFor = (kind: 'live' | 'admin') => (kind === 'admin' ? 'the operator' : 'an account')

/** The kind of a key; fails if the server does not know it. */
async function kindOf(url: string, key: StoredKey): Promise<keyof Omit<Profile, 'url'>> {
  const call = callerOf(url, headersOf(key), 'a key of this server')
  try {
    await call('GET', '/v3/usage')
    return 'live'
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    await call('GET', '/admin/plans')
    return 'admin'
  }
}
