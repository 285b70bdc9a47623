import type { Config } from '../../config.js'
import type { Args } from '../args.js'
import { ApiError } from '../client.js'
import { printRecord, printText } from '../output.js'
import { findPrimary } from './doctor-postgres.js'

/** PostgreSQL has backups of its own; Trunkline checks what they need and prints the commands. */

/** Media in a bucket, which no backup holds. */
export interface OutsideMedia {
  url: string
  words: string
}

const TIMEOUT_MS = 5000

export async function adviseBackup(
  args: Args,
  config: Config,
  file: string,
  bucket: OutsideMedia | null,
): Promise<void> {
  const { default: pg } = await import('pg')
  const { client, findings } = await findPrimary(
    config,
    (connectionString) => new pg.Client({ connectionString, connectionTimeoutMillis: TIMEOUT_MS }),
  )
  if (!client) {
    const { detail, advice } = findings.findLast(({ result }) => result !== 'ok')!
    throw new ApiError(`${detail}. ${advice}`)
  }
  try {
    const { rows } = await client.query<Facts>(FACTS)
    const facts = rows[0]!
    const command = dump(config, file)
    if (args.json)
      return printRecord(args, { ...facts, ...(bucket ? { media_bucket: bucket.url } : {}), command })
    printText(
      args,
      [
        `PostgreSQL ${facts.version}, ${facts.size}${bucket ? '' : ', media included'}. The seal keys are not in it: keep a copy of TRUNKLINE_SEAL_KEYS.`,
        ...(bucket ? [bucket.words] : []),
        '',
        'A copy of this moment, consistent while the server runs:',
        `  ${command}`,
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

/** A pooler cannot run pg_dump. libpq takes a URL with several hosts as it is. */
const urlName = ({ databaseDirectUrl }: Config) =>
  databaseDirectUrl ? '$TRUNKLINE_DATABASE_DIRECT_URL' : '$DATABASE_URL'

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

const dump = (config: Config, file: string) =>
  `pg_dump --format=custom --file ${quote(file)} "${urlName(config)}"`

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

export function adviseRestore(args: Args, config: Config, file: string): void {
  printText(
    args,
    [
      'PostgreSQL restores its own backups. Stop every Trunkline process on the database first, then:',
      `  pg_restore --clean --if-exists --no-owner --dbname "${urlName(config)}" ${quote(file)}`,
      '',
      'The next start notices the restored database: messages that waited in it are held until you decide with: trunkline recover',
    ].join('\n'),
  )
}
