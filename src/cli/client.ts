import { hash } from 'node:crypto'
import { loadConfig } from '../config.js'
import { DEFAULT_WORLD } from '../services/accounts/default-world.js'
import type { Args } from './command.js'
import { harmless } from './output.js'

export class ApiError extends Error {
  /** When the server says to come back. */
  retryAfterS?: number

  /** Status of the answer; without one, there was none. */
  constructor(
    message: string,
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** The request may have arrived, but the connection broke before its answer. */
export class AnswerLost extends ApiError {}

export type Call = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<unknown>

const URL_OPTION = {
  url: { type: 'string', help: 'server (TRUNKLINE_URL; default http://127.0.0.1:4040)' },
} as const

/** Options of every command that administers a server. */
export const CLIENT_OPTIONS = {
  ...URL_OPTION,
  offline: { type: 'boolean', help: 'work on the database itself while no server runs' },
} as const

/** Long enough for every answer that the server holds back on purpose. */
const TIMEOUT_MS = 120_000

/** Options of every command that acts for an account. */
export const ACCOUNT_OPTIONS = URL_OPTION

/**
 * Runs `work` with a way to call the admin routes: over HTTP, or, offline, on the very same routes inside this
 * process, which is how the first keys of a server are made.
 */
export async function withClient<T>(args: Args, work: (call: Call) => Promise<T>): Promise<T> {
  if (args.values.offline) return offline(args, work)
  return online(args, 'admin', ', or use --offline', work)
}

/** The same for the routes of an account, with one of its keys. */
export async function withAccount<T>(args: Args, work: (call: Call) => Promise<T>): Promise<T> {
  return online(args, 'live', '', work)
}

async function online<T>(
  args: Args,
  kind: 'admin' | 'live',
  otherwise: string,
  work: (call: Call) => Promise<T>,
): Promise<T> {
  const { url, credentials } = serverOf(args, kind)
  return work(async (method, path, body, headers) => {
    try {
      const response = await fetch(new URL(path, url), {
        method,
        ...(body
          ? {
              headers: { ...credentials, ...headers, 'content-type': 'application/json' },
              body: JSON.stringify(body),
            }
          : { headers: { ...credentials, ...headers } }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      return answer(response.status, await response.text(), WHICH_KEY[kind], response.headers)
    } catch (error) {
      if (error instanceof ApiError) throw error
      const words = `No server answers at ${url}. Start one with "trunkline serve"${otherwise}.`
      const isNobodyThere = ['ECONNREFUSED', 'ENOTFOUND'].includes(codeOf(error))
      throw isNobodyThere ? new ApiError(words) : new AnswerLost(words)
    }
  })
}

/** The server that the caller means, and as whom to speak to it. */
export function serverOf(
  args: Args,
  kind: 'admin' | 'live',
): { url: string; who: string; credentials: Record<string, string> } {
  const { TRUNKLINE_URL, TRUNKLINE_TOKEN, TRUNKLINE_API_KEY_ID, TRUNKLINE_API_SECRET_KEY } = args.io.env
  const url = (args.values.url as string | undefined) ?? TRUNKLINE_URL ?? 'http://127.0.0.1:4040'
  const id = TRUNKLINE_API_KEY_ID ?? DEFAULT_WORLD.keys[kind].id
  const secret = TRUNKLINE_API_SECRET_KEY ?? DEFAULT_WORLD.keys[kind].secret
  // A token acts for an account, never for the operator.
  if (TRUNKLINE_TOKEN && kind === 'live') {
    const who = `token ${hash('sha256', TRUNKLINE_TOKEN, 'hex').slice(0, 16)}`
    return { url, who, credentials: { authorization: `Bearer ${TRUNKLINE_TOKEN}` } }
  }
  return { url, who: id, credentials: { 'sb-api-key-id': id, 'sb-api-secret-key': secret } }
}

/** Why nothing came back from a server, in a word. */
export function codeOf(error: unknown): string {
  const { cause, code, name } = error as { cause?: unknown; code?: string; name?: string }
  return code ?? (cause instanceof Error ? codeOf(cause) : (name ?? 'unknown'))
}

export const WHICH_KEY = {
  admin: 'an admin key ("trunkline key create --admin --offline" makes one)',
  live: 'a key of the account ("trunkline key create --account <id>" makes one)',
}

async function offline<T>({ io }: Args, work: (call: Call) => Promise<T>): Promise<T> {
  const { createApp } = await import('../app.js')
  const app = await createApp(loadConfig({ ...io.env, LOG_LEVEL: 'silent' }), { worker: false })
  try {
    return await work(async (method, path, body) => {
      const response = await app.server.inject({ method, url: path, ...(body ? { payload: body } : {}) })
      return answer(response.statusCode, response.body, WHICH_KEY.admin)
    })
  } finally {
    await app.stop()
  }
}

type Answer = { error?: { message?: string }; message?: string } | null

export function answer(
  status: number,
  text: string,
  key: string,
  headers?: { get(name: string): string | null },
): unknown {
  let body: Answer
  try {
    body = text === '' ? null : JSON.parse(text)
  } catch {
    throw new ApiError(`The answer (HTTP ${status}) is not JSON. Is that a Trunkline server?`, status)
  }
  if (status < 300) return body
  const reason = body?.error?.message ?? body?.message ?? `HTTP ${status}`
  if (status === 401) {
    throw new ApiError(
      `Unauthorized. Set TRUNKLINE_API_KEY_ID and TRUNKLINE_API_SECRET_KEY to ${key}.`,
      status,
    )
  }
  const refusal = new ApiError(harmless(reason), status)
  const seconds = Number(headers?.get('retry-after'))
  if (seconds > 0) refusal.retryAfterS = seconds
  throw refusal
}
