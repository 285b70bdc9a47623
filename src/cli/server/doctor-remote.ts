import { type Config, isLoopback } from '../../config.js'
import { ApiError, answer, serverOf, WHICH_KEY } from '../client.js'
import type { Args } from '../command.js'
import { type Finding, found, ownKey, portState } from './doctor-local.js'

const { ok, warn, fail } = found
const TIMEOUT_MS = 5000
/** Receivers refuse signatures that are older than five minutes. */
const SKEW_MS = { warn: 2000, fail: 60_000 } as const

export function skew(check: string, ms: number, than: string): Finding {
  const seconds = (Math.abs(ms) / 1000).toFixed(1)
  const detail = `${seconds} s ${ms >= 0 ? 'behind' : 'ahead of'} ${than}`
  const advice = 'Set the clocks by NTP: signatures and one-time codes depend on them.'
  if (Math.abs(ms) >= SKEW_MS.fail) return fail(check, detail, advice)
  if (Math.abs(ms) >= SKEW_MS.warn) return warn(check, detail, advice)
  return ok(check, `the same as ${than}`)
}

export async function checkPostgres(config: Config): Promise<Finding[]> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: config.databaseUrl!, connectionTimeoutMillis: TIMEOUT_MS })
  try {
    await client.connect()
  } catch (error) {
    return [
      fail(
        'database',
        `PostgreSQL cannot be reached: ${(error as Error).message || (error as { code?: string }).code}`,
        'Check DATABASE_URL, and that the database runs and lets this machine in.',
      ),
    ]
  }
  try {
    const one = async (sql: string) =>
      Object.values((await client.query(sql)).rows[0] as object)[0] as unknown
    const settings = ['fsync', 'synchronous_commit', 'full_page_writes'] as const
    const off: string[] = []
    for (const name of settings) if ((await one(`show ${name}`)) === 'off') off.push(name)
    const asked = Date.now()
    const now = Number(await one('select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms'))
    const here = (asked + Date.now()) / 2
    const hasKeys = (await one("select to_regclass('keys') is not null as there")) === true
    return [
      off.length === 0
        ? ok('database', `PostgreSQL ${await one('show server_version')}, every commit is flushed`)
        : fail(
            'database',
            `PostgreSQL runs with ${off.join(', ')} off`,
            `Set ${off.join(', ')} to on: an accepted message could be lost.`,
          ),
      skew('clock of the database', now - here, 'the database'),
      ...(hasKeys && !isLoopback(config.host)
        ? [
            ownKey(
              Number(
                await one(
                  "select count(*) from keys where kind = 'admin' and well_known = 0 and revoked_at is null",
                ),
              ),
            ),
          ]
        : []),
    ]
  } finally {
    await client.end()
  }
}

/** The port that a server would take, and whoever has it now. */
export async function checkPort(config: Config): Promise<Finding> {
  const where = `${config.host}:${config.port}`
  switch (await portState(config.host, config.port)) {
    case 'free':
      return ok('port', `${where} is free`)
    case 'forbidden':
      return fail('port', `${where} may not be used by this user`, 'Choose a port above 1023 with --port.')
    case 'no such address':
      return fail('port', `${config.host} is no address of this machine`, 'Choose another with --host.')
  }
  const host = config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${config.port}`
  if (await isTrunkline(url)) return ok('port', `a Trunkline runs at ${where}`)
  return fail('port', `Another program uses ${where}`, 'Stop it, or choose another port with --port.')
}

async function isTrunkline(url: string): Promise<boolean> {
  try {
    const reply = await ask(`${url}/livez`)
    return reply.status === 200 && ((await reply.json()) as { status?: string }).status === 'ok'
  } catch {
    return false
  }
}

function ask(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
}

interface LineState {
  sendblue_number: string
  status: string
  blocked_at: string | null
}

/** What a running server says; nothing when none is meant to run. */
export async function checkServer(args: Args): Promise<Finding[]> {
  const { url, credentials } = serverOf(args, 'live')
  const isAsked = args.values.url !== undefined || args.io.env.TRUNKLINE_URL !== undefined
  if (!(await isTrunkline(url)))
    return isAsked
      ? [fail('server', `No Trunkline answers at ${url}`, 'Start it, or correct --url.')]
      : [ok('server', `none runs at ${url}`)]
  const asked = Date.now()
  const ready = await ask(`${url}/readyz`)
  const here = (asked + Date.now()) / 2
  // The header has whole seconds: half of one more is likely.
  const there = Date.parse(ready.headers.get('date') ?? '') + 500
  const findings = [
    ready.status === 200
      ? ok('server', `ready at ${url}`)
      : fail('server', `not ready at ${url}`, 'Look into its log: its database may be unreachable.'),
    ...(Number.isNaN(there) ? [] : [skew('clock of the server', there - here, 'the server')]),
  ]
  try {
    const reply = await ask(`${url}/api/v2/lines/state`, credentials)
    const { data } = answer(reply.status, await reply.text(), WHICH_KEY.live) as { data: LineState[] }
    findings.push(ok('key', 'is accepted'), ...data.map(lineFinding))
    if (data.length === 0)
      findings.push(
        warn(
          'lines',
          'The account has no line',
          'Run: trunkline line create --account <id> --number <number>',
        ),
      )
  } catch (error) {
    const isKey = error instanceof ApiError && error.status === 401
    findings.push(
      isKey
        ? fail('key', 'is not accepted', 'Set TRUNKLINE_API_KEY_ID and TRUNKLINE_API_SECRET_KEY.')
        : warn('lines', (error as Error).message, 'Use a key of the account to see its lines.'),
    )
  }
  return findings
}

function lineFinding({ sendblue_number: number, status, blocked_at }: LineState): Finding {
  const check = `line ${number}`
  if (blocked_at)
    return fail(
      check,
      `blocked since ${blocked_at}`,
      'Find out why, then: trunkline line set <id> --blocked no',
    )
  if (status === 'ONLINE') return ok(check, 'ONLINE')
  if (status === 'OFFLINE')
    return fail(check, 'OFFLINE: nothing leaves', 'See its state_detail: trunkline line list --json')
  return warn(check, status, 'See its state_detail: trunkline line list --json')
}
