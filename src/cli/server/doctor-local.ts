import { accessSync, constants, readFileSync, statfsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { isOpenToOthers } from '../../base/private-files.js'
import type { Config } from '../../config.js'
import { harmsOf, INIT } from '../../core/accounts/harmless.js'
import { parseSealKeys } from '../../core/accounts/seal.js'
import { isLoopback } from '../../core/url.js'
import { BUILT_IN } from '../../drivers/registry.js'
import { KEY_FILE } from '../../services/accounts/vault.js'
import { loadDrivers } from '../../services/lines/driver-load.js'
import { describeDoubt } from '../../services/messages/recovery.js'
import { loadSqlite } from '../../storage/engine/sqlite-statements.js'
import { probeBucket } from '../../storage/media/blob-bucket.js'
import { openBucket } from '../../storage/media/bucket.js'
import { type LineInDoubt, listLinesInDoubt } from '../../storage/messages/recovery.js'

export interface Finding {
  check: string
  result: 'ok' | 'warn' | 'fail'
  detail: string
  /** The next step for the user. */
  advice?: string
}

export const ok = (check: string, detail: string): Finding => ({ check, result: 'ok', detail })
export const warn = (check: string, detail: string, advice: string): Finding => ({
  ...{ check, result: 'warn', detail, advice },
})
export const fail = (check: string, detail: string, advice: string): Finding => ({
  ...{ check, result: 'fail', detail, advice },
})

const MB = 1024 * 1024
/** As in package.json: odd versions before 23 are too old for packages that ours needs. */
const LEAST_MINOR: Record<number, number> = { 20: 19, 22: 12 }
/** Checking a larger database would take minutes. */
const MAX_CHECKED_BYTES = 1024 * MB
/** One row; every check of keys follows from it. */
export const CENSUS = `select
  (select count(*) from keys where well_known = 1 and revoked_at is null) as well_known,
  (select count(*) from keys where kind = 'admin' and well_known = 0 and revoked_at is null) as own_admin,
  (select count(*) from lines where driver <> 'simulator' and removed_at is null) as real_lines`

export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > 22 || minor >= (LEAST_MINOR[major] ?? Infinity)) return ok('node', `Node ${version}`)
  return fail('node', `Node ${version} is too old`, 'Install Node 22.12 or newer, or 20.19.')
}

/** Creates nothing: a folder that does not exist yet is judged by its nearest parent. */
export function checkFolder(config: Config): Finding {
  const folder = resolve(config.data)
  const entry = statSync(folder, { throwIfNoEntry: false })
  if (entry && !entry.isDirectory())
    return fail('data', `${folder} is not a folder`, 'Set TRUNKLINE_DATA or --data to a folder.')
  const existing = nearest(folder)
  try {
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return fail('data', `${existing} is not writable`, `Run: chown "$(id -u)" ${existing}`)
  }
  if (!entry) return ok('data', `${folder} will be created by the first start`)
  if (isOpenToOthers(folder))
    return warn('data', `Other users of this machine can enter ${folder}`, `Run: chmod 700 ${folder}`)
  return ok('data', folder)
}

export function checkDisk(config: Config): Finding {
  const { bavail, bsize, blocks } = statfsSync(nearest(resolve(config.data)))
  const free = bavail * bsize
  const detail = `${megabytes(free)} free of ${megabytes(blocks * bsize)}`
  const least = config.minFreeMb * MB
  if (free < least)
    return fail('disk', detail, `Free some space: below ${megabytes(least)} every send is refused.`)
  if (free >= 1024 * MB || least === 0) return ok('disk', detail)
  return warn('disk', detail, 'Free some space, or reduce TRUNKLINE_EVENT_DAYS and TRUNKLINE_WEBHOOK_DAYS.')
}

export function checkSealKey(config: Config): Finding {
  const check = 'seal key'
  if (config.sealKeys) return ok(check, `${config.sealKeys.length} from TRUNKLINE_SEAL_KEYS`)
  const file = join(resolve(config.data), KEY_FILE)
  const entry = statSync(file, { throwIfNoEntry: false })
  if (!entry) return ok(check, `${file} will be created by the first start`)
  if (isOpenToAll(entry))
    return fail(check, `Every user of this machine can read ${file}`, `Run: chmod 600 ${file}`)
  try {
    const keys = parseSealKeys(readFileSync(file, 'utf8'))
    if (!config.databaseUrl) return ok(check, `${keys.length} in ${file}; keep a copy elsewhere`)
    const advice = 'Set TRUNKLINE_SEAL_KEYS to the same keys on every node, and keep a copy elsewhere.'
    return warn(check, `${file} is on this machine only`, advice)
  } catch (error) {
    return fail(check, `${file}: ${(error as Error).message}`, 'Restore the previous key file.')
  }
}

/** Reads the database file, which a running server may have open. */
export async function checkSqlite(config: Config): Promise<Finding[]> {
  const file = join(resolve(config.data), 'trunkline.db')
  // Below a file that is not a folder, statSync throws in spite of throwIfNoEntry.
  const isFolder = statSync(config.data, { throwIfNoEntry: false })?.isDirectory()
  const entry = isFolder ? statSync(file, { throwIfNoEntry: false }) : undefined
  if (!entry)
    return [ok('database', `SQLite, ${file} will be created by the first start`), ...checkKeys(config)]
  const open = await loadSqlite()
  try {
    const db = open(file)
    try {
      db.exec('pragma query_only = on; pragma busy_timeout = 2000')
      const one = (sql: string) => Object.values((db.prepare(sql).get() ?? {}) as object)[0]
      const journal = one('pragma journal_mode')
      const findings = [
        journal === 'wal'
          ? ok('database', `SQLite, ${megabytes(entry.size)}, write-ahead log, every commit is flushed`)
          : fail('database', `SQLite with journal_mode=${journal}`, 'Start the server once to correct it.'),
      ]
      if (entry.size <= MAX_CHECKED_BYTES) {
        const health = String(one('pragma quick_check(1)'))
        findings.push(
          health === 'ok'
            ? ok('database content', 'not damaged')
            : fail('database content', health, 'Stop the server and restore a backup.'),
        )
      }
      const isEmpty = one("select 1 from sqlite_master where name = 'keys'") === undefined
      const knowsIncarnations = one("select 1 from sqlite_master where name = 'incarnations'") !== undefined
      if (knowsIncarnations)
        findings.push(
          ...checkDoubt(await listLinesInDoubt({ all: async (sql) => db.prepare(sql).all() as never })),
        )
      return [...findings, ...checkKeys(config, isEmpty ? undefined : (db.prepare(CENSUS).get() as Census))]
    } finally {
      db.close()
    }
  } catch (error) {
    const detail = `${file}: ${(error as Error).message}`
    return [fail('database', detail, 'Check its owner and permissions, or restore a backup.')]
  }
}

/** Messages that wait for the operator after a restore. */
export function checkDoubt(lines: readonly LineInDoubt[]): Finding[] {
  const messages = lines.reduce((sum, line) => sum + Number(line.messages), 0)
  if (messages === 0) return []
  const advice =
    'See them with: trunkline recover. Then decide: --resend-unsent sends them, --give-up ends them unsent.'
  return [warn('messages in doubt', describeDoubt(messages), advice)]
}

/** Receivers refuse signatures that are older than five minutes. */
const SKEW_MS = { warn: 2000, fail: 60_000 } as const

export function skew(check: string, ms: number, than: string): Finding {
  const detail = `${(Math.abs(ms) / 1000).toFixed(1)} s ${ms >= 0 ? 'behind' : 'ahead of'} ${than}`
  const advice = 'Set the clocks by NTP: signatures and one-time codes depend on them.'
  if (Math.abs(ms) >= SKEW_MS.fail) return fail(check, detail, advice)
  if (Math.abs(ms) >= SKEW_MS.warn) return warn(check, detail, advice)
  return ok(check, `the same as ${than}`)
}

export type Census = Readonly<Record<'well_known' | 'own_admin' | 'real_lines', number | string>>

/** Outside a harmless world the development keys must have ended, and there must be an admin key. */
export function checkKeys(config: Config, census?: Census): Finding[] {
  const [wellKnown, own, real] = [census?.well_known, census?.own_admin, census?.real_lines].map((count) =>
    Number(count ?? 0),
  ) as [number, number, number]
  const harms = harmsOf({ ...config, hasRealLines: real > 0 })
  if (harms.length === 0) return []
  const why = harms.join(' and ')
  const loopback = config.allowHosts.filter(isLoopback)
  return [
    ...(wellKnown > 0
      ? [fail('development keys', `still work, although ${why}`, `Run: ${INIT}. The next start ends them.`)]
      : []),
    own > 0
      ? ok('keys', `${own} admin ${own === 1 ? 'key' : 'keys'} of your own`)
      : fail('keys', `There is no admin key of your own, although ${why}`, `Run: ${INIT}`),
    ...(loopback.length > 0
      ? [
          warn(
            'loopback URLs',
            `TRUNKLINE_ALLOW_HOSTS lets every account reach ${loopback.join(' and ')}, although ${why}`,
            'Remove them, unless you trust every account.',
          ),
        ]
      : []),
  ]
}

export function checkPublicUrl(config: Config): Finding[] {
  if (isLoopback(config.host) || config.publicUrl) return []
  const detail = 'URLs of media will contain the address that the server listens on'
  return [warn('public URL', detail, 'Set TRUNKLINE_PUBLIC_URL to the address that clients use.')]
}

/** Loads the operator's own drivers, as a start would. */
export async function checkDrivers(config: Config): Promise<Finding[]> {
  const kinds = BUILT_IN.map(({ kind }) => kind)
  const builtIn = ok('drivers', `${kinds.join(', ')} are built in`)
  try {
    const own = await loadDrivers(config.drivers, kinds)
    return [
      builtIn,
      ...own.map(({ from, driver }) => ok(`driver ${driver.kind}`, `${driver.title}, ${from}`)),
    ]
  } catch (error) {
    return [builtIn, fail('drivers', (error as Error).message, 'Correct the driver or TRUNKLINE_DRIVERS.')]
  }
}

/** Writes, reads and removes an object, as a start would. */
export async function checkBucket({ mediaBucket }: Config): Promise<Finding[]> {
  if (!mediaBucket) return []
  const { place, keys } = mediaBucket
  const fault = await probeBucket(await openBucket(place, keys), place)
  return [
    fault
      ? fail('media', fault, 'Correct TRUNKLINE_MEDIA_URL or its keys.')
      : ok('media', `goes to the bucket "${place.bucket}"`),
  ]
}

export type PortState = 'free' | 'taken' | 'forbidden' | 'no such address'

export function portState(host: string, port: number): Promise<PortState> {
  return new Promise((done) => {
    const server = createServer()
    server.once('error', ({ code }: { code?: string }) =>
      done(code === 'EADDRINUSE' ? 'taken' : code === 'EACCES' ? 'forbidden' : 'no such address'),
    )
    server.listen({ host, port, exclusive: true }, () => server.close(() => done('free')))
  })
}

function isOpenToAll({ mode }: { mode: number }): boolean {
  return process.platform !== 'win32' && (mode & 0o007) !== 0
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / MB).toLocaleString('en')} MB`
}

/** The path itself if it exists, else its nearest parent. */
function nearest(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) || dirname(path) === path ? path : nearest(dirname(path))
}
