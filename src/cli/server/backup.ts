import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Config, loadConfig } from '../../config.js'
import { KEY_FILE } from '../../services/accounts/vault.js'
import { BackupFault, backupSqlite, restoreSqlite } from '../../storage/engine/sqlite/backup.js'
import { type Args, flag, onePositional } from '../args.js'
import { ApiError } from '../client.js'
import { command } from '../command.js'
import { note, printRecord, printText } from '../output.js'

const PLACE = { data: 'as for serve', 'database-url': 'as for serve' }

export const backup = command({
  name: 'backup',
  summary:
    'Back up the database and media into one file, while the server runs; for PostgreSQL: check and say how',
  positional: 'file',
  options: {
    'with-seal-key': flag(
      'include the key that opens stored secrets; whoever has the file can then read them',
    ),
    ...PLACE,
  },
  examples: ['trunkline-2026-03-01.backup', 'all.backup --with-seal-key'],
  async run(args) {
    const file = resolve(onePositional(args, 'file'))
    const config = configOf(args)
    if (config.databaseUrl) return adviseBackup(args, config, file)
    const key = join(config.data, KEY_FILE)
    const withKey = args.values['with-seal-key'] === true
    if (withKey && !existsSync(key))
      throw new ApiError(`There is no ${key}: the keys are in TRUNKLINE_SEAL_KEYS. Keep a copy of them.`)
    const sealKey = withKey ? readFileSync(key, 'utf8') : null
    const made = await told(() => backupSqlite(config.data, file, sealKey, (words) => note(args, words)))
    printRecord(args, {
      file,
      bytes: made.bytes,
      messages: made.messages,
      media: made.media,
      media_missing: made.missing,
      seal_key: made.hasSealKey,
    })
    if (!withKey)
      note(args, 'Without the seal key: keep a copy of it elsewhere, or stored secrets cannot be opened.')
  },
})

export const restore = command({
  name: 'restore',
  summary: 'Restore a backup into the data folder, while no server runs; for PostgreSQL: say how',
  positional: 'file',
  options: { replace: flag('set an existing database aside'), ...PLACE },
  examples: ['trunkline-2026-03-01.backup', 'all.backup --replace'],
  async run(args) {
    const file = resolve(onePositional(args, 'file'))
    const config = configOf(args)
    if (config.databaseUrl) return adviseRestore(args, file)
    const done = await told(() =>
      restoreSqlite(
        config.data,
        file,
        { replace: args.values.replace === true, keyFile: KEY_FILE },
        (words) => note(args, words),
      ),
    )
    printRecord(args, {
      data: resolve(config.data),
      made_at: new Date(done.madeAt).toISOString(),
      media: done.media,
      seal_key: done.hasSealKey,
      set_aside: done.setAside,
    })
    note(
      args,
      'Messages that waited when the backup was made may have been sent since. They are held: start the server, then decide with: trunkline recover',
    )
  },
})

function configOf({ values, io }: Args): Config {
  const { data, 'database-url': url } = values
  const flags = { ...(data ? { data } : {}), ...(url ? { 'database-url': url } : {}) }
  return loadConfig(io.env, flags as Record<string, string>)
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException
    if (error instanceof BackupFault) throw new ApiError(message)
    if (code && path)
      throw new ApiError(`${path} cannot be used (${code}). Check its folder, owner and free space.`)
    throw error
  }
}

/** PostgreSQL has backups of its own; Trunkline checks what they need. */
async function adviseBackup(args: Args, config: Config, file: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: config.databaseUrl!, connectionTimeoutMillis: 5000 })
  await client.connect().catch((error) => {
    throw new ApiError(`PostgreSQL cannot be reached: ${(error as Error).message}. Check DATABASE_URL.`)
  })
  try {
    const { rows } = await client.query<Facts>(FACTS)
    const facts = rows[0]!
    if (args.json) return printRecord(args, { ...facts, command: dump(file) })
    printText(
      args,
      [
        `PostgreSQL ${facts.version}, ${facts.size}, media included. The seal keys are not in it: keep a copy of TRUNKLINE_SEAL_KEYS.`,
        '',
        'A copy of this moment, consistent while the server runs:',
        `  ${dump(file)}`,
        '',
        facts.archive_mode === 'off'
          ? 'Point-in-time recovery: not possible now, archive_mode is off. Set archive_mode and archive_command, or use pgBackRest, Barman or WAL-G.'
          : `Point-in-time recovery: archive_mode is ${facts.archive_mode}, ${facts.failed} failed and ${facts.archived} archived segments. Make base backups with pg_basebackup or your tool.`,
        ...(facts.standbys > 0 && facts.synchronous === ''
          ? [
              `${facts.standbys} standby servers are asynchronous: a promotion may lose the last commits, and Trunkline then holds messages in doubt.`,
            ]
          : []),
      ].join('\n'),
    )
  } finally {
    await client.end()
  }
}

const dump = (file: string) =>
  `pg_dump --format=custom --file '${file.replaceAll("'", "'\\''")}' "$DATABASE_URL"`

interface Facts {
  version: string
  size: string
  archive_mode: string
  archived: number
  failed: number
  standbys: number
  synchronous: string
}

const FACTS = `select current_setting('server_version') as version,
  pg_size_pretty(pg_database_size(current_database())) as size,
  current_setting('archive_mode') as archive_mode,
  (select archived_count::int from pg_stat_archiver) as archived,
  (select failed_count::int from pg_stat_archiver) as failed,
  (select count(*)::int from pg_stat_replication) as standbys,
  current_setting('synchronous_standby_names') as synchronous`

function adviseRestore(args: Args, file: string): void {
  printText(
    args,
    [
      'PostgreSQL restores its own backups. Stop every Trunkline process on the database first, then:',
      `  pg_restore --clean --if-exists --no-owner --dbname "$DATABASE_URL" '${file}'`,
      '',
      'The next start notices the restored database: messages that waited in it are held until you decide with: trunkline recover',
    ].join('\n'),
  )
}
