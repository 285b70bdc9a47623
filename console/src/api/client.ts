/** Every request needs this header: the server ignores the session's cookie without it. */
const HEADERS: Record<string, string> = { 'x-trunkline-console': '1' }

/** Names the seat of the person at this console; the audit log keeps it with every change. */
export function actAs(seatId: string | undefined): void {
  if (seatId === undefined) delete HEADERS['x-trunkline-seat']
  else HEADERS['x-trunkline-seat'] = seatId
}

export type Query = Record<string, string | number | boolean | null | undefined>

/** The server's error message. */
export class ApiError extends Error {
  readonly status: number
  /** Messages about single fields, if the server sent any. */
  readonly details: readonly { field: string; message: string }[]

  constructor(status: number, message: string, details: ApiError['details'] = []) {
    super(message)
    this.status = status
    this.details = details
  }
}

/** Called when the session has ended, so that the sign-in page appears. */
let onSignedOut = () => {}

export function whenSignedOut(handler: () => void): void {
  onSignedOut = handler
}

let requests = new AbortController()

/** Sign-out aborts open requests: the server would only refuse them. */
export function abortRequests(): void {
  requests.abort()
  requests = new AbortController()
}

function pathWith(path: string, query: Query = {}): string {
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
    signal: options.signal ?? requests.signal,
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, 'The server does not respond. Check that it is running.')
  })
  const isJson = response.headers.get('content-type')?.includes('json')
  const answer = isJson ? await response.json() : await response.text()
  if (response.ok) return answer as T
  if (response.status === 401 && path !== '/console/session') onSignedOut()
  const message = messageOf(answer) || `The server answered ${response.status}`
  throw new ApiError(response.status, message, detailsOf(answer))
}

function messageOf(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return ''
  const { error, message } = answer as { error?: { message?: string }; message?: string }
  return error?.message ?? message ?? ''
}

function detailsOf(answer: unknown): ApiError['details'] {
  const details = (answer as { error?: { details?: unknown } } | null)?.error?.details
  return Array.isArray(details) && details.every((detail) => typeof detail?.field === 'string') ? details : []
}

export const api = {
  get: <T>(path: string, options?: Options) => request<T>('GET', path, undefined, options),
  post: <T>(path: string, body: unknown = {}, options?: Options) => request<T>('POST', path, body, options),
  put: <T>(path: string, body: unknown = {}, options?: Options) => request<T>('PUT', path, body, options),
  patch: <T>(path: string, body: unknown = {}, options?: Options) => request<T>('PATCH', path, body, options),
  delete: <T>(path: string, body?: unknown, options?: Options) => request<T>('DELETE', path, body, options),
}

/** A response whose body is read as a stream. */
export function openStream(path: string, headers: Record<string, string>, signal: AbortSignal) {
  return fetch(path, { headers: { ...HEADERS, ...headers }, signal })
}

/** Makes a number or an id safe for a path or a query string. */
export const encode = encodeURIComponent
