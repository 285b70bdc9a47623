import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClock } from '../../base/clock.js'
import { createIds } from '../../base/ids.js'
import { createLog } from '../../base/log.js'
import { makePrivateFolder } from '../../base/private-files.js'
import { type Config, loadConfig } from '../../config.js'
import type { Account } from '../../core/accounts/account.js'
import { INIT } from '../../core/accounts/harmless.js'
import { newKeyPair } from '../../services/accounts/accounts.js'
import type { WorldKeys } from '../../services/accounts/default-world.js'
import { type AccountChoice, createFirstKeys, keysExist } from '../../services/accounts/first-keys.js'
import { checkVault } from '../../services/accounts/seal.js'
import { KEY_FILE, openVault } from '../../services/accounts/vault.js'
import { createAuditTrail } from '../../services/audit/audit.js'
import type { Ctx } from '../../services/ctx.js'
import { hasOwnAdminKey } from '../../storage/accounts/accounts.js'
import { openStorage } from '../../storage/engine/open.js'
import { type Args, text, UsageError } from '../args.js'
import { ApiError } from '../client.js'
import { command } from '../command.js'
import { printRecord, printText } from '../output.js'

const EMAIL = 'account@trunkline.local'

export const init = command({
  name: 'init',
  summary:
    'Create your own keys: an account with a live and a test key, an admin key, and the key that seals secrets',
  options: {
    email: `identifies the new account on the wire; default ${EMAIL}`,
    name: 'company or person',
    account: 'id of an existing account that gets the live and test key, instead of a new account',
    write: 'folder for the keys, as files that only you can read; default: they are shown, once',
    data: 'as for serve',
    'database-url': 'as for serve',
  },
  examples: ['', '--email you@example.com --write ./keys', '--account <id>'],
  async run(args) {
    const { data, 'database-url': databaseUrl } = args.values
    const flags = { ...(data ? { data } : {}), ...(databaseUrl ? { 'database-url': databaseUrl } : {}) }
    const config = loadConfig(args.io.env, flags as Record<string, string>)
    const choice = choiceOf(args)
    const clock = createClock()
    const ids = createIds()
    const db = await openStorage(config, { now: clock.now(), beside: true })
    try {
      await makeKeys(
        args,
        config,
        { db, clock, random: ids.random, newId: () => ids.timeOrdered(Date.now()) },
        choice,
      )
    } finally {
      clock.stop()
      await db.close()
    }
  },
})

function choiceOf(args: Args): AccountChoice {
  const [id, email, name] = [text(args, 'account'), text(args, 'email'), text(args, 'name')]
  if (id !== undefined && (email ?? name) !== undefined)
    throw new UsageError('Give either --account, or --email and --name of a new account')
  if (id !== undefined) return { id }
  if (email !== undefined && !/^[^\s@]+@[^\s@]+$/.test(email))
    throw new UsageError(`--email must be an e-mail address, not "${email}"`)
  return { email: email ?? EMAIL, name: name ?? email ?? EMAIL }
}

/** Creates the keys and shows or writes them. */
export async function makeKeys(
  args: Args,
  config: Config,
  ctx: Pick<Ctx, 'db' | 'clock' | 'random' | 'newId'>,
  choice: AccountChoice = { email: EMAIL, name: EMAIL },
): Promise<void> {
  if (await hasOwnAdminKey(ctx.db)) throw keysExist()
  const seal = await sealKey(config, ctx)
  const [admin, live, test] = [1, 2, 3].map(() => newKeyPair(ctx.random)) as [KeyPair, KeyPair, KeyPair]
  const keys = { admin, live, test }
  const folder = text(args, 'write')
  // Written before the commit: a crash between them leaves files without effect, never keys that nobody has seen.
  const files = folder === undefined ? [] : writeFiles(folder, keys, seal.key)
  const account = await audited(ctx, () => createFirstKeys(ctx, choice, keys)).catch((error) => {
    for (const file of files) rmSync(file, { force: true })
    throw error
  })
  show(args, account, keys, seal, files)
}

/** The audit log has the command, like every change of keys. */
async function audited(ctx: Pick<Ctx, 'db' | 'newId'>, create: () => Promise<Account>): Promise<Account> {
  const trail = createAuditTrail(ctx)
  const none = { actorId: null, keyId: null, accountId: null, seatId: null, address: null }
  const entry = {
    ...none,
    ...({ at: Date.now(), actor: 'cli', action: INIT, forwardedFor: null, fields: null } as const),
  }
  const id = await trail.begin({ ...entry, object: null, status: null })
  try {
    const account = await create()
    await trail.end(id, { ...entry, object: account.id, status: 201 })
    return account
  } catch (error) {
    await trail.end(id, { ...entry, object: null, status: 409 })
    throw error
  }
}

type KeyPair = WorldKeys['live']

interface SealKeyState {
  /** Set if it was created now. */
  key: string | null
  where: string
}

async function sealKey(config: Config, { db }: Pick<Ctx, 'db'>): Promise<SealKeyState> {
  const file = join(config.data, KEY_FILE)
  const isNew = !config.sealKeys && !existsSync(file)
  await checkVault(db, openVault(config, createLog('silent')))
  return {
    key: isNew ? readFileSync(file, 'utf8').trim() : null,
    where: config.sealKeys ? 'TRUNKLINE_SEAL_KEYS' : file,
  }
}

function writeFiles(folder: string, keys: WorldKeys, seal: string | null): string[] {
  const texts: Record<string, string> = {}
  for (const [kind, { id, secret }] of Object.entries(keys))
    texts[`${kind}.env`] = `TRUNKLINE_API_KEY_ID=${id}\nTRUNKLINE_API_SECRET_KEY=${secret}\n`
  if (seal !== null) texts[KEY_FILE] = `${seal}\n`
  makePrivateFolder(folder)
  const written: string[] = []
  try {
    for (const [name, content] of Object.entries(texts)) {
      const file = join(folder, name)
      writeFileSync(file, content, { flag: 'wx', mode: 0o600, flush: true })
      written.push(file)
    }
    return written
  } catch (error) {
    for (const file of written) rmSync(file, { force: true })
    const { code, path } = error as { code?: string; path?: string }
    throw new ApiError(
      code === 'EEXIST'
        ? `${path} exists already, and no file is overwritten. Nothing was created. Choose another folder with --write.`
        : `${path ?? folder} cannot be written (${code}). Nothing was created.`,
    )
  }
}

function show(
  args: Args,
  { id, email }: Account,
  keys: WorldKeys,
  seal: SealKeyState,
  files: readonly string[],
): void {
  const isWritten = files.length > 0
  if (args.json) {
    const shown = isWritten ? { files } : { keys, seal_key: seal.key }
    printRecord(args, { account_id: id, email, ...shown, seal_key_in: seal.where })
    return
  }
  const pair = (key: KeyPair) => `${key.id} / ${key.secret}`
  const kept = `in ${seal.where}; keep a copy elsewhere`
  printText(
    args,
    [
      `Account    ${id}  ${email}`,
      ...(isWritten
        ? files.map((file) => `Written    ${file}`)
        : [
            `Admin key  ${pair(keys.admin)}`,
            `Live key   ${pair(keys.live)}`,
            `Test key   ${pair(keys.test)}`,
          ]),
      `Seal key   ${seal.key === null || isWritten ? kept : `${seal.key}  (${kept})`}`,
      '',
      isWritten
        ? 'Only you can read these files. Trunkline keeps no copy of the secrets.'
        : 'Save them now: Trunkline keeps no copy of the secrets and shows them only here.',
      'Commands use the admin key in TRUNKLINE_API_KEY_ID and TRUNKLINE_API_SECRET_KEY.',
    ].join('\n'),
  )
}
