import { accessSync, constants, readFileSync, statfsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { type Config, isLoopback } from '../../config.js'
import { parseSealKeys } from '../../core/accounts/seal.js'
import { BUILT_IN } from '../../drivers/registry.js'
import { KEY_FILE } from '../../services/accounts/vault.js'
import { loadDrivers } from '../../services/lines/driver-load.js'
import { loadSqlite } from '../../storage/engine/sqlite-statements.js'

/** What one look found. */
export interface Finding {
  check: string
  result: 'ok' | 'warn' | 'fail'
  detail: string
  /** What to do about it. */
  advice?: string
}

const ok = (check: string, detail: string): Finding => ({ check, result: 'ok', detail })
const warn = (check: string, detail: string, advice: string): Finding => ({
  check,
  result: 'warn',
  detail,
  advice,
})
const fail = (check: string, detail: string, advice: string): Finding => ({
  check,
  result: 'fail',
  detail,
  advice,
})
export const found = { ok, warn, fail }

const MB = 1024 * 1024
const LEAST_NODE = [20, 19] as const
/** Reading all of a large file would take minutes. */
const CHECKED_BYTES = 1024 * MB

export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isEnough = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])
  if (isEnough) return ok('node', `Node ${version}`)
  return fail('node', `Node ${version} is too old`, `Install Node ${LEAST_NODE.join('.')} or newer.`)
}

/** Looks and makes nothing: a folder that is not there yet is judged by where it will be. */
export function checkFolder(config: Config): Finding {
  const folder = resolve(config.data)
  const entry = statSync(folder, { throwIfNoEntry: false })
  if (entry && !entry.isDirectory())
    return fail('data', `${folder} is not a folder`, 'Set TRUNKLINE_DATA or --data to a folder.')
  const there = entry ? folder : nearest(folder)
  try {
    accessSync(there, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return fail('data', `${there} cannot be written`, `Run: chown "$(id -u)" ${there}`)
  }
  if (!entry) return ok('data', `${folder} will be made by the first start`)
  if (process.platform !== 'win32' && entry.mode & 0o007)
    return warn('data', `Everyone on this machine can look into ${folder}`, `Run: chmod 700 ${folder}`)
  return ok('data', folder)
}

export function checkDisk(config: Config): Finding {
  const folder = nearest(resolve(config.data))
  const { bavail, bsize, blocks } = statfsSync(folder)
  const free = bavail * bsize
  const detail = `${Math.floor(free / MB).toLocaleString('en')} MB free of ${Math.floor((blocks * bsize) / MB).toLocaleString('en')} MB`
  if (free < 100 * MB) return fail('disk', detail, 'Make room: a full disk stops every send.')
  if (free < 1024 * MB)
    return warn('disk', detail, 'Make room soon, or shorten TRUNKLINE_EVENT_DAYS and TRUNKLINE_WEBHOOK_DAYS.')
  return ok('disk', detail)
}

export function checkSealKey(config: Config): Finding {
  if (config.sealKeys) return ok('seal key', `${config.sealKeys.length} from TRUNKLINE_SEAL_KEYS`)
  const file = join(resolve(config.data), KEY_FILE)
  const entry = statSync(file, { throwIfNoEntry: false })
  if (!entry) return ok('seal key', `${file} will be made by the first start`)
  if (process.platform !== 'win32' && entry.mode & 0o007)
    return fail('seal key', `Everyone on this machine can read ${file}`, `Run: chmod 600 ${file}`)
  try {
    const keys = parseSealKeys(readFileSync(file, 'utf8'))
    if (config.databaseUrl)
      return warn(
        'seal key',
        `${file} is on this machine only`,
        'Set TRUNKLINE_SEAL_KEYS, so that every node has the same keys, and keep a copy elsewhere.',
      )
    return ok('seal key', `${keys.length} in ${file}; keep a copy elsewhere`)
  } catch (error) {
    return fail(
      'seal key',
      `${file}: ${(error as Error).message}`,
      'Bring back the key file that was used before.',
    )
  }
}

/** What is on the disk, read beside a server that may be running. */
export async function checkSqlite(config: Config): Promise<Finding[]> {
  const file = join(resolve(config.data), 'trunkline.db')
  const entry = isFolder(config.data) ? statSync(file, { throwIfNoEntry: false }) : undefined
  if (!entry) return [ok('database', `SQLite, ${file} will be made by the first start`)]
  const open = await loadSqlite()
  try {
    const db = open(file)
    try {
      db.exec('pragma query_only = on; pragma busy_timeout = 2000')
      const one = (sql: string) => Object.values((db.prepare(sql).get() ?? {}) as object)[0]
      const journal = one('pragma journal_mode')
      const size = `${Math.ceil(entry.size / MB).toLocaleString('en')} MB`
      const findings = [
        journal === 'wal'
          ? ok('database', `SQLite, ${size}, write-ahead log, every commit is flushed`)
          : fail(
              'database',
              `SQLite with journal_mode=${journal}`,
              'Start the server once: it sets what it needs.',
            ),
      ]
      if (entry.size <= CHECKED_BYTES) {
        const health = one('pragma quick_check(1)')
        findings.push(
          health === 'ok'
            ? ok('database content', 'nothing is damaged')
            : fail('database content', String(health), 'Stop the server and bring back a backup.'),
        )
      }
      if (!isLoopback(config.host))
        findings.push(
          ownKey(
            Number(
              one("select count(*) from keys where kind = 'admin' and well_known = 0 and revoked_at is null"),
            ),
          ),
        )
      return findings
    } finally {
      db.close()
    }
  } catch (error) {
    return [
      fail(
        'database',
        `${file}: ${(error as Error).message}`,
        'Check its owner and permissions, or bring back a backup.',
      ),
    ]
  }
}

/** The keys that everyone knows work on loopback addresses only. */
export function ownKey(amount: number): Finding {
  if (amount > 0) return ok('keys', `${amount} admin ${amount === 1 ? 'key' : 'keys'} of your own`)
  return warn(
    'keys',
    'Others can reach this server, where the development keys do not work, and there is no admin key',
    'Run, while it is stopped: trunkline key create --admin --offline',
  )
}

export function checkPublicUrl(config: Config): Finding[] {
  if (isLoopback(config.host) || config.publicUrl) return []
  return [
    warn(
      'public URL',
      'Links to media will name the address that the server listens on',
      'Set TRUNKLINE_PUBLIC_URL to the address that others reach it at.',
    ),
  ]
}

/** The carriers that lines can use; loads the operator's own, as a start would. */
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
    return [builtIn, fail('drivers', (error as Error).message, 'Correct it, or correct TRUNKLINE_DRIVERS.')]
  }
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

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function nearest(path: string): string {
  let there = path
  while (!statSync(there, { throwIfNoEntry: false }) && dirname(there) !== there) there = dirname(there)
  return there
}
