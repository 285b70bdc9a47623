import { hash, randomUUID } from 'node:crypto'
import { loadConfig } from '../config.js'
import { DEFAULT_WORLD } from '../services/accounts/default-world.js'
import type { Args } from './args.js'
import { harmless } from './output.js'

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
  return async (method, path, body, headers) => {
    try {
      const response = await fetch(new URL(path, url), {
        method,
        headers: { ...credentials, ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      return answer(response.status, await response.text(), WHICH_KEY[kind], response.headers)
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
  const { TRUNKLINE_URL, TRUNKLINE_TOKEN, TRUNKLINE_API_KEY_ID, TRUNKLINE_API_SECRET_KEY } = io.env
  const url = (values.url as string | undefined) ?? TRUNKLINE_URL ?? 'http://127.0.0.1:4040'
  const id = TRUNKLINE_API_KEY_ID ?? DEFAULT_WORLD.keys[kind].id
  const secret = TRUNKLINE_API_SECRET_KEY ?? DEFAULT_WORLD.keys[kind].secret
  // A token acts for an account, never for the operator.
  if (TRUNKLINE_TOKEN && kind === 'live') {
    const who = `token ${hash('sha256', TRUNKLINE_TOKEN, 'hex').slice(0, 16)}`
    return { url, who, credentials: { ...headers, authorization: `Bearer ${TRUNKLINE_TOKEN}` } }
  }
  return { url, who: id, credentials: { ...headers, 'sb-api-key-id': id, 'sb-api-secret-key': secret } }
}

/** The error code of a request without an answer, like ECONNREFUSED. */
export function codeOf(error: unknown): string {
  const { cause, code, name } = error as { cause?: unknown; code?: string; name?: string }
  return code ?? (cause instanceof Error ? codeOf(cause) : (name ?? 'unknown'))
}

/** Opens the database at the first call only: a command with wrong arguments leaves it alone. */
async function offline<T>({ io }: Args, work: (call: Call) => Promise<T>): Promise<T> {
  const open = async () => {
    const { createApp } = await import('../app.js')
    return createApp(loadConfig({ ...io.env, LOG_LEVEL: 'silent' }), { worker: false })
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
      ? `Unauthorized. Set TRUNKLINE_API_KEY_ID and TRUNKLINE_API_SECRET_KEY to ${key}.`
      : harmless(reason),
    status,
  )
  const seconds = Number(headers?.get('retry-after'))
  if (seconds > 0) error.retryAfterS = seconds
  throw error
}
