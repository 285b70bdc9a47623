import { hash, randomUUID } from 'node:crypto'
import { loadConfig, variable } from '../config.js'
import { DEFAULT_WORLD } from '../services/accounts/default-world.js'
import type { Args } from './args.js'
import { harmless } from './output.js'
import { chosenProfile, type StoredKey } from './profiles.js'

export class ApiError extends Error {
  /** From the header Retry-After. */
  retryAfterS?: number

  /** `status` is the HTTP status of the answer; undefined if no answer came. */
  constructor(
    message: string,
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The connection broke before the answer: the server may or may not have acted on the request. */
export class AnswerLost extends ApiError {}

/** Calls the API. The caller names the type of the answer, which is not checked. */
export type Call = <T = unknown>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<T>

export const DEFAULT_URL = 'http://127.0.0.1:4040'

/** Longer than the server holds back any answer on purpose. */
const TIMEOUT_MS = 120_000

export const WHICH_KEY = {
  admin: 'an admin key ("trunkline init" makes the first one)',
  live: 'a key of the account ("trunkline key create --account <id>" makes one)',
}

/** The header that lets the server recognise a repeated request. */
export function onceOnly(): Record<string, string> {
  return { 'idempotency-key': `cli-${randomUUID()}` }
}

/**
 * Runs `work` with a function that calls admin routes: over HTTP, or with --offline inside this process, which is how
 * the first keys of a server are made.
 */
export function withAdmin<T>(args: Args, work: (call: Call) => Promise<T>): Promise<T> {
  return args.values.offline ? offline(args, work) : work(online(args, 'admin', ', or use --offline'))
}

/** Runs `work` with a function that calls the routes of an account with one of its keys. */
export function withAccount<T>(args: Args, work: (call: Call) => Promise<T>): Promise<T> {
  return work(online(args, 'live', ''))
}

function online(args: Args, kind: 'admin' | 'live', otherwise: string): Call {
  const { url, credentials } = serverOf(args, kind)
  return callerOf(url, credentials, WHICH_KEY[kind], otherwise)
}

/** Calls a server. `key` says which key it needs, `otherwise` what else to do if no server answers. */
export function callerOf(
  url: string,
  credentials: Record<string, string>,
  key: string,
  otherwise = '',
): Call {
  return async (method, path, body, headers) => {
    try {
      const response = await fetch(new URL(path, url), {
        method,
        headers: { ...credentials, ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      return answer(response.status, await response.text(), key, response.headers)
    } catch (error) {
      if (error instanceof ApiError) throw error
      const words = `No server answers at ${url}. Start one with "trunkline serve"${otherwise}.`
      const isNotSent = ['ECONNREFUSED', 'ENOTFOUND'].includes(codeOf(error))
      throw isNotSent ? new ApiError(words) : new AnswerLost(words)
    }
  }
}

/** The server that the arguments and the environment name, and the credentials to use there. */
export function serverOf(
  { values, io, headers }: Args,
  kind: 'admin' | 'live',
): { url: string; who: string; credentials: Record<string, string> } {
  const given = (name: string) => variable(io.env, name)
  const token = given('TRUNKLINE_TOKEN')
  const profile = chosenProfile(io.env, values.profile as string | undefined)
  const url = (values.url as string | undefined) ?? given('TRUNKLINE_URL') ?? profile?.url ?? DEFAULT_URL
  // The keys of a profile go to its own server and nowhere else.
  const stored = (profile?.url === url && profile[kind]) || DEFAULT_WORLD.keys[kind]
  const keyId = given('TRUNKLINE_API_KEY_ID')
  const id = keyId ?? stored.id
  const secret = given('TRUNKLINE_API_SECRET_KEY') ?? (keyId ? '' : stored.secret)
  // A token acts for an account, never for the operator.
  if (token && kind === 'live') {
    const who = `token ${hash('sha256', token, 'hex').slice(0, 16)}`
    return { url, who, credentials: { ...headers, authorization: `Bearer ${token}` } }
  }
  return { url, who: id, credentials: { ...headers, ...headersOf({ id, secret }) } }
}

/** The headers that show a key. */
export function headersOf({ id, secret }: StoredKey): Record<string, string> {
  return { 'sb-api-key-id': id, 'sb-api-secret-key': secret }
}

/** The error code of a request without an answer, like ECONNREFUSED. */
export function codeOf(error: unknown): string {
  const { cause, code, name } = error as { cause?: unknown; code?: string; name?: string }
  return code ?? (cause instanceof Error ? codeOf(cause) : (name ?? 'unknown'))
}

/** Opens the database at the first call only: a command with wrong arguments leaves it alone. */
async function offline<T>({ io, values }: Args, work: (call: Call) => Promise<T>): Promise<T> {
  const open = async () => {
    const { createApp } = await import('../app.js')
    const { data, 'database-url': databaseUrl } = values as Record<string, string | undefined>
    const config = loadConfig({ ...io.env, LOG_LEVEL: 'silent' }, { data, 'database-url': databaseUrl })
    return createApp(config, { worker: false })
  }
  let app: ReturnType<typeof open> | undefined
  try {
    return await work(async (method, url, body) => {
      app ??= open()
      const { server } = await app
      const response = await server.inject({ method, url, ...(body && { payload: body }) })
      return answer(response.statusCode, response.body, WHICH_KEY.admin)
    })
  } finally {
    await (await app)?.stop()
  }
}

type Answer = { error?: { message?: string }; message?: string } | null

export function answer<T>(
  status: number,
  text: string,
  key: string,
  headers?: { get(name: string): string | null },
): T {
  let body: Answer
  try {
    body = text === '' ? null : JSON.parse(text)
  } catch {
    throw new ApiError(`The answer (HTTP ${status}) is not JSON. Is this a Trunkline server?`, status)
  }
  if (status < 300) return body as T
  const reason = body?.error?.message ?? body?.message ?? `HTTP ${status}`
  const error = new ApiError(
    status === 401
      ? `Unauthorized. Set TRUNKLINE_API_KEY_ID and TRUNKLINE_API_SECRET_KEY to ${key}, or use "trunkline login".`
      : harmless(reason),
    status,
  )
  const seconds = Number(headers?.get('retry-after'))
  if (seconds > 0) error.retryAfterS = seconds
  throw error
}
