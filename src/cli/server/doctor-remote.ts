import type { Config } from '../../config.js'
import { INIT } from '../../core/accounts/harmless.js'
import { isLoopback } from '../../core/url.js'
import { isShortSecret, LEAST_BYTES } from '../../core/webhooks/secret.js'
import { DEFAULT_WORLD } from '../../services/accounts/default-world.js'
import type { Args } from '../args.js'
import { ApiError, answer, DEFAULT_URL, serverOf, WHICH_KEY } from '../client.js'
import { type Finding, fail, ok, portState, skew, warn } from './doctor-local.js'

export const TIMEOUT_MS = 5000

/** Whether the port of `serve` is free, or which program has it. */
export async function checkPort({ host, port }: Pick<Config, 'host' | 'port'>): Promise<Finding> {
  const where = `${host}:${port}`
  switch (await portState(host, port)) {
    case 'free':
      return ok('port', `${where} is free`)
    case 'forbidden':
      return fail('port', `This user may not listen on ${where}`, 'Choose a port above 1023 with --port.')
    case 'no such address':
      return fail('port', `${host} is not an address of this machine`, 'Choose another with --host.')
  }
  if (await isTrunkline(urlOf({ host, port }))) return ok('port', `Trunkline is running at ${where}`)
  return fail('port', `Another program uses ${where}`, 'Stop it, or choose another port with --port.')
}

/** Where a server with these settings is reached from this machine. */
function urlOf({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

async function isTrunkline(url: string): Promise<boolean> {
  try {
    const reply = await get(`${url}/livez`)
    return reply.status === 200 && ((await reply.json()) as { status?: string }).status === 'ok'
  } catch {
    return false
  }
}

function get(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
}

interface LineState {
  sendblue_number: string
  status: string
  blocked_at: string | null
}

/** Asks a running server: the one that is named, else the one that these settings start, which need not run. */
export async function checkServer(args: Args, config: Config): Promise<Finding[]> {
  const { url: named, credentials } = serverOf(args, 'live')
  const isNamed =
    named !== DEFAULT_URL || args.values.url !== undefined || args.io.env.TRUNKLINE_URL !== undefined
  const url = isNamed ? named : urlOf(config)
  if (!(await isTrunkline(url)))
    return isNamed
      ? [fail('server', `No Trunkline answers at ${url}`, 'Start it, or correct --url.')]
      : [ok('server', `not running at ${url}`)]
  const asked = Date.now()
  const ready = await get(`${url}/readyz`)
  const here = (asked + Date.now()) / 2
  // The header has whole seconds, so the time is half a second later on average.
  const there = Date.parse(ready.headers.get('date') ?? '') + 500
  const findings = [
    await readiness(url, ready),
    ...(Number.isNaN(there) ? [] : [skew('clock of the server', there - here, 'the server')]),
    ...(await checkOutside(url)),
  ]
  try {
    const reply = await get(`${url}/api/v2/lines/state`, credentials)
    const { data } = answer(reply.status, await reply.text(), WHICH_KEY.live) as { data: LineState[] }
    findings.push(ok('key', 'is accepted'), ...data.map(lineFinding))
    const advice = 'Run: trunkline line create --account <id> --number <number>'
    if (data.length === 0) findings.push(warn('lines', 'The account has no line', advice))
    findings.push(...(await checkSecrets(url, credentials)))
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

async function readiness(url: string, reply: Response): Promise<Finding> {
  const { status, reasons = [] } = (await reply.json().catch(() => ({}))) as {
    status?: string
    reasons?: string[]
  }
  const why = reasons.length > 0 ? `: ${reasons.join(' ')}` : ''
  if (reply.status !== 200)
    return fail('server', `not ready at ${url}${why}`, 'Read its log: its database may be unreachable.')
  return status === 'degraded'
    ? warn('server', `ready at ${url}${why}`, 'Read its log.')
    : ok('server', `ready at ${url}`)
}

/** Short secrets of webhooks. Nothing to say about an account without secrets, or to a key that may not read them. */
async function checkSecrets(url: string, credentials: Record<string, string>): Promise<Finding[]> {
  const reply = await get(`${url}/api/account/webhooks`, credentials)
  if (reply.status !== 200) return []
  const { webhooks } = (await reply.json()) as { webhooks: Record<string, unknown> }
  const entries = Object.values(webhooks).flatMap((value) => (Array.isArray(value) ? value : []))
  const secrets = [webhooks, ...entries]
    .flatMap(({ globalSecret, secret }) => [globalSecret, secret])
    .filter((secret) => typeof secret === 'string')
  if (secrets.length === 0) return []
  const short = new Set(secrets.filter(isShortSecret)).size
  if (short === 0) return [ok('webhook secrets', 'are long enough')]
  const detail = `${short} ${short === 1 ? 'is' : 'are'} shorter than ${LEAST_BYTES} characters`
  return [warn('webhook secrets', detail, `Replace with: echo "whsec_$(openssl rand -base64 32)"`)]
}

/** Under an address beyond loopback, no development key may be accepted. */
async function checkOutside(url: string): Promise<Finding[]> {
  if (isLoopback(new URL(url).hostname)) return []
  const { id, secret } = DEFAULT_WORLD.keys.admin
  const reply = await get(`${url}/admin/accounts`, { 'sb-api-key-id': id, 'sb-api-secret-key': secret })
  if (reply.status !== 200) return [ok('development keys', `are refused at ${url}`)]
  return [fail('development keys', `are accepted at ${url}, which is not loopback`, END_KEYS)]
}

const END_KEYS = `Run: ${INIT}. Then set TRUNKLINE_PUBLIC_URL to this address and start the server again, which ends them.`

function lineFinding({ sendblue_number: number, status, blocked_at }: LineState): Finding {
  const check = `line ${number}`
  const advice = 'See its state_detail: trunkline line list --json'
  if (blocked_at)
    return fail(
      check,
      `blocked since ${blocked_at}`,
      'Find out why, then run: trunkline line set <id> --blocked no',
    )
  if (status === 'ONLINE') return ok(check, status)
  return status === 'OFFLINE' ? fail(check, 'OFFLINE: it sends nothing', advice) : warn(check, status, advice)
}
