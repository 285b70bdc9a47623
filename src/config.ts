import { readFileSync } from 'node:fs'
import { parseUrl } from './base/parse-url.js'
import { parseSealKeys, type SealKey } from './core/accounts/seal.js'
import { hostUrls } from './core/database-url.js'
import { type BucketPlace, parseBucketUrl } from './core/media/bucket-url.js'
import { type TraceSettings, traceSettings } from './core/tracing/settings.js'
import { checkTrustedProxies } from './core/trusted-proxies.js'

/** A bucket for media, with its keys. */
export interface MediaBucket {
  place: BucketPlace
  keys: { accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined }
}

/** Environment and flags, validated into one frozen object. Nothing else reads the environment. */
export interface Config {
  host: string
  port: number
  /** Addresses and networks of proxies whose X-Forwarded-* headers are believed. */
  trustProxy: readonly string[]
  /** Port of a second listener for metrics and health, which needs no key; null: none. */
  metricsPort: number | null
  metricsHost: string
  /** Folder of the SQLite database. */
  data: string
  /** Set: PostgreSQL instead. */
  databaseUrl: string | null
  /** Set: `databaseUrl` leads to a pooler such as pgbouncer, and this is the database itself. */
  databaseDirectUrl: string | null
  logLevel: string
  /** Free megabytes on the disk of the data folder below which sends are refused (SQLite); 0: never. */
  minFreeMb: number
  /** How long a stopping server still answers requests, telling clients to go. */
  lameDuckMs: number
  /** How long a stop waits for sends that are on the wire. */
  drainMs: number
  /** How long a carrier may take to answer a send before its outcome counts as unknown. */
  wireTimeoutMs: number
  /** How long a webhook receiver may take for everything, from its name to the last byte. */
  webhookTimeoutMs: number
  /** A process that was not seen for this long is dead and its lines are taken over (PostgreSQL). */
  leaseMs: number
  /** Wrong credentials tolerated from one address per minute. */
  authFailuresPerMinute: number
  /** Bytes of requests and fetched images that the process holds at one moment. */
  maxBytesInFlight: number
  /** Sends that wait for the database before further ones are refused. */
  maxUnwrittenSends: number
  /** Private hosts that webhooks and media may be on, besides loopback in a harmless world. */
  allowHosts: readonly string[]
  /** Where the outside reaches this server, without a slash at the end; null: the address it listens on. */
  publicUrl: string | null
  /** S3-compatible storage of media; null: files beside SQLite, rows in PostgreSQL. */
  mediaBucket: MediaBucket | null
  /** Days that uploaded media is kept; 0 for ever. */
  mediaDays: number
  /** Days that ended webhook deliveries are kept; 0 for ever. */
  webhookDays: number
  /** Days that events can be read again; 0 for ever. */
  eventDays: number
  /** Days that rows of the audit log are kept; 0 for ever. */
  auditDays: number
  /** Days that API calls are kept in the request log; 0: there is no request log. */
  requestDays: number
  /** Keys that seal stored secrets; null: from a file in the data folder. */
  sealKeys: readonly SealKey[] | null
  /** Turns that the two sides of a conversation take within seconds before it is held as a loop; 0: any number. */
  loopLimit: number
  /** How long it is held, unless an operator releases it. */
  loopHoldMs: number
  /** Where traces are exported to; null: there are none. */
  traces: TraceSettings | null
  /** Modules of drivers that are not built in: paths or names of packages. */
  drivers: readonly string[]
  /** Test only: kill the process at a named moment. */
  failpoint: string | null
}

export interface Flags {
  host?: string
  port?: string
  data?: string
  'database-url'?: string
  'log-level'?: string
}

export class ConfigError extends Error {}

export function loadConfig(env: Record<string, string | undefined>, flags: Flags = {}): Config {
  const text = (flag: keyof Flags | undefined, ...names: string[]): string | undefined => {
    if (flag && flags[flag] !== undefined) return flags[flag]
    for (const name of names) {
      const value = variable(env, name)
      if (value !== undefined) return value
    }
    return undefined
  }
  const whole = (
    name: string,
    value: string | undefined,
    fallback: number,
    min: number,
    max: number,
  ): number => {
    if (value === undefined) return fallback
    const number = Number(value)
    if (!Number.isInteger(number) || number < min || number > max) {
      throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, not "${value}"`)
    }
    return number
  }
  const database = (name: string, url: string | undefined): string | null => {
    if (!url) return null
    try {
      hostUrls(url)
      return url
    } catch (error) {
      const { message } = error as Error
      throw new ConfigError(`${name} ${message}. Leave it out to use SQLite.`)
    }
  }
  const databaseUrl = database('DATABASE_URL', text('database-url', 'TRUNKLINE_DATABASE_URL', 'DATABASE_URL'))
  const databaseDirectUrl = database(
    'TRUNKLINE_DATABASE_DIRECT_URL',
    text(undefined, 'TRUNKLINE_DATABASE_DIRECT_URL'),
  )
  if (databaseDirectUrl && !databaseUrl)
    throw new ConfigError('TRUNKLINE_DATABASE_DIRECT_URL needs DATABASE_URL, the URL of the pooler.')
  const port = whole('PORT', text('port', 'TRUNKLINE_PORT', 'PORT'), 4040, 0, 65_535)
  const metricsPort = text(undefined, 'TRUNKLINE_METRICS_PORT')
  if (metricsPort !== undefined && port !== 0 && Number(metricsPort) === port)
    throw new ConfigError(`TRUNKLINE_METRICS_PORT must differ from PORT, which is ${port}`)
  const logLevel = text('log-level', 'TRUNKLINE_LOG_LEVEL', 'LOG_LEVEL') ?? 'info'
  if (!['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].includes(logLevel)) {
    throw new ConfigError(
      `LOG_LEVEL must be fatal, error, warn, info, debug, trace or silent, not "${logLevel}"`,
    )
  }
  return Object.freeze({
    host: text('host', 'TRUNKLINE_HOST', 'HOST') ?? '127.0.0.1',
    port,
    trustProxy: trustedProxies(text(undefined, 'TRUNKLINE_TRUST_PROXY')),
    metricsPort:
      metricsPort === undefined ? null : whole('TRUNKLINE_METRICS_PORT', metricsPort, 0, 0, 65_535),
    metricsHost: text(undefined, 'TRUNKLINE_METRICS_HOST') ?? '127.0.0.1',
    data: text('data', 'TRUNKLINE_DATA') ?? './.trunkline',
    databaseUrl,
    databaseDirectUrl,
    logLevel,
    minFreeMb: whole(
      'TRUNKLINE_MIN_FREE_MB',
      text(undefined, 'TRUNKLINE_MIN_FREE_MB'),
      100,
      0,
      1_000_000_000,
    ),
    lameDuckMs: whole('TRUNKLINE_LAME_DUCK_MS', text(undefined, 'TRUNKLINE_LAME_DUCK_MS'), 500, 0, 600_000),
    drainMs: whole('TRUNKLINE_DRAIN_MS', text(undefined, 'TRUNKLINE_DRAIN_MS'), 25_000, 0, 600_000),
    wireTimeoutMs: whole(
      'TRUNKLINE_WIRE_TIMEOUT_MS',
      text(undefined, 'TRUNKLINE_WIRE_TIMEOUT_MS'),
      30_000,
      100,
      600_000,
    ),
    webhookTimeoutMs: whole(
      'TRUNKLINE_WEBHOOK_TIMEOUT_MS',
      text(undefined, 'TRUNKLINE_WEBHOOK_TIMEOUT_MS'),
      45_000,
      100,
      600_000,
    ),
    leaseMs: whole('TRUNKLINE_LEASE_MS', text(undefined, 'TRUNKLINE_LEASE_MS'), 10_000, 500, 600_000),
    authFailuresPerMinute: whole(
      'TRUNKLINE_AUTH_FAILURES_PER_MINUTE',
      text(undefined, 'TRUNKLINE_AUTH_FAILURES_PER_MINUTE'),
      300,
      1,
      1_000_000,
    ),
    maxBytesInFlight: whole(
      'TRUNKLINE_MAX_BYTES_IN_FLIGHT',
      text(undefined, 'TRUNKLINE_MAX_BYTES_IN_FLIGHT'),
      512_000_000,
      1_000_000,
      1_000_000_000_000,
    ),
    maxUnwrittenSends: whole(
      'TRUNKLINE_MAX_UNWRITTEN_SENDS',
      text(undefined, 'TRUNKLINE_MAX_UNWRITTEN_SENDS'),
      1000,
      1,
      1_000_000,
    ),
    allowHosts: list(text(undefined, 'TRUNKLINE_ALLOW_HOSTS')).map((host) => host.toLowerCase()),
    publicUrl: publicUrl(text(undefined, 'TRUNKLINE_PUBLIC_URL')),
    mediaBucket: bucketOf(text),
    mediaDays: whole('TRUNKLINE_MEDIA_DAYS', text(undefined, 'TRUNKLINE_MEDIA_DAYS'), 0, 0, 36_500),
    webhookDays: whole('TRUNKLINE_WEBHOOK_DAYS', text(undefined, 'TRUNKLINE_WEBHOOK_DAYS'), 30, 0, 36_500),
    eventDays: whole('TRUNKLINE_EVENT_DAYS', text(undefined, 'TRUNKLINE_EVENT_DAYS'), 30, 0, 36_500),
    auditDays: whole('TRUNKLINE_AUDIT_DAYS', text(undefined, 'TRUNKLINE_AUDIT_DAYS'), 365, 0, 36_500),
    requestDays: whole('TRUNKLINE_REQUEST_DAYS', text(undefined, 'TRUNKLINE_REQUEST_DAYS'), 3, 0, 365),
    sealKeys: sealKeys(text(undefined, 'TRUNKLINE_SEAL_KEYS')),
    loopLimit: whole('TRUNKLINE_LOOP_LIMIT', text(undefined, 'TRUNKLINE_LOOP_LIMIT'), 20, 0, 1_000_000),
    loopHoldMs: whole(
      'TRUNKLINE_LOOP_HOLD_MS',
      text(undefined, 'TRUNKLINE_LOOP_HOLD_MS'),
      600_000,
      1000,
      86_400_000,
    ),
    traces: tracesOf((name) => text(undefined, name)),
    drivers: list(text(undefined, 'TRUNKLINE_DRIVERS')),
    failpoint: text(undefined, 'TRUNKLINE_FAILPOINT') ?? null,
  })
}

function tracesOf(text: (name: string) => string | undefined): TraceSettings | null {
  try {
    return traceSettings(text)
  } catch (error) {
    throw new ConfigError((error as Error).message)
  }
}

function list(text = ''): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

function trustedProxies(text: string | undefined): readonly string[] {
  try {
    return checkTrustedProxies(list(text))
  } catch (error) {
    throw new ConfigError(`TRUNKLINE_TRUST_PROXY ${(error as Error).message}.`)
  }
}

function publicUrl(value: string | undefined): string | null {
  if (value === undefined) return null
  const url = parseUrl(value)
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash
  if (!isPlain) {
    throw new ConfigError(
      `TRUNKLINE_PUBLIC_URL must be an address like https://sms.example.com, not "${value}"`,
    )
  }
  return url.href.replace(/\/+$/, '')
}

function sealKeys(text: string | undefined): readonly SealKey[] | null {
  if (text === undefined) return null
  try {
    return parseSealKeys(text)
  } catch (error) {
    throw new ConfigError(`TRUNKLINE_SEAL_KEYS: ${(error as Error).message}. "trunkline seal key" makes one.`)
  }
}

/** A variable of the environment, or the content of the file that its `_FILE` form names. */
export function variable(env: Record<string, string | undefined>, name: string): string | undefined {
  const file = env[`${name}_FILE`]
  if (env[name] || !file) return env[name] || undefined
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new ConfigError(`${name}_FILE points to ${file}, which cannot be read`, { cause })
  }
}

/** The bucket of TRUNKLINE_MEDIA_URL. Its keys have the names that every S3 client knows. */
function bucketOf(text: (flag: undefined, ...names: string[]) => string | undefined): MediaBucket | null {
  const url = text(undefined, 'TRUNKLINE_MEDIA_URL')
  if (url === undefined) return null
  const place = parseBucketUrl(url, text(undefined, 'AWS_REGION', 'AWS_DEFAULT_REGION') ?? 'us-east-1')
  if (typeof place === 'string') throw new ConfigError(`TRUNKLINE_MEDIA_URL ${place}`)
  const accessKeyId = text(undefined, 'AWS_ACCESS_KEY_ID')
  const secretAccessKey = text(undefined, 'AWS_SECRET_ACCESS_KEY')
  if (!accessKeyId || !secretAccessKey)
    throw new ConfigError('TRUNKLINE_MEDIA_URL needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  return { place, keys: { accessKeyId, secretAccessKey, sessionToken: text(undefined, 'AWS_SESSION_TOKEN') } }
}
