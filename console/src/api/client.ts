/** The one way to the server: the session's cookie counts only together with this header. */
const HEADERS = { 'x-trunkline-console': '1' }

export type Query = Record<string, string | number | boolean | null | undefined>

/** What the server said was wrong, in its words. */
export class ApiError extends Error {
  readonly status: number
  /** The same for each field, where the server says that. */
  readonly details: readonly { field: string; message: string }[]

  constructor(status: number, message: string, details: ApiError['details'] = []) {
    super(message)
    this.status = status
    this.details = details
  }
}

/** Told when the session is over, so that the sign-in page comes. */
let onSignedOut = () => {}

export function whenSignedOut(handler: () => void): void {
  onSignedOut = handler
}

/** Everything that is asked while somebody is signed in. */
let visit = new AbortController()

/** Whoever signs out wants no answer any more: an answer that comes after it would only be a refusal. */
export function endVisit(): void {
  visit.abort()
  visit = new AbortController()
}

export function pathWith(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  )
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text ? `${path}?${text}` : path
}

interface Options {
  query?: Query
  signal?: AbortSignal
  headers?: Record<string, string>
}

async function request<T>(method: string, path: string, body: unknown, options: Options = {}): Promise<T> {
  const isForm = body instanceof FormData
  const response = await fetch(pathWith(path, options.query), {
    method,
    headers: {
      ...HEADERS,
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    signal: options.signal ?? visit.signal,
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, 'The server does not answer. Is it still running?')
  })
  const isJson = response.headers.get('content-type')?.includes('json')
  const answer = isJson ? await response.json() : await response.text()
  if (response.ok) return answer as T
  if (response.status === 401 && path !== '/console/session') onSignedOut()
  const words = wordsOf(answer) || `The server answered ${response.status}`
  throw new ApiError(response.status, words, detailsOf(answer))
}

function wordsOf(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return ''
  const { error, message } = answer as { error?: { message?: string }; message?: string }
  return error?.message ?? message ?? ''
}

function detailsOf(answer: unknown): ApiError['details'] {
  const details = (answer as { error?: { details?: unknown } } | null)?.error?.details
  return Array.isArray(details) && details.every((one) => typeof one?.field === 'string') ? details : []
}

export const api = {
  get: <T>(path: string, options?: Options) => request<T>('GET', path, undefined, options),
  post: <T>(path: string, body: unknown = {}, options?: Options) => request<T>('POST', path, body, options),
  put: <T>(path: string, body: unknown = {}, options?: Options) => request<T>('PUT', path, body, options),
  patch: <T>(path: string, body: unknown = {}, options?: Options) => request<T>('PATCH', path, body, options),
  delete: <T>(path: string, body?: unknown, options?: Options) => request<T>('DELETE', path, body, options),
}

/** An answer that lasts: its body as it comes. */
export function openStream(path: string, headers: Record<string, string>, signal: AbortSignal) {
  return fetch(path, { headers: { ...HEADERS, ...headers }, signal })
}

/** A part of a path: numbers have a plus sign, ids may have anything. */
export function part(text: string): string {
  return encodeURIComponent(text)
}
