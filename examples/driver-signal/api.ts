import { LineFault, type NoAnswer, type ProbeHost } from 'trunkline/driver'

// biome-ignore lint/suspicious/noExplicitAny: the shape is unknown; every use checks it
export type Fields = Record<string, any>
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type Api = ReturnType<typeof createApi>

const TIMEOUT_MS = 30_000
const FILE_TIMEOUT_MS = 300_000
const MAX_FILE_BYTES = 120_000_000

/** HTTP to a signal-cli-rest-api. */
export function createApi({ url, token }: { url: string; token?: string }, host: Pick<ProbeHost, 'http'>) {
  const http = host.http(url)
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }

  /** Returns any answer. Throws NoAnswer without one. */
  async function ask(method: Method, path: string, json?: object, timeoutMs = TIMEOUT_MS) {
    const body = json && JSON.stringify(json)
    const answer = await http.request({ method, path, headers, timeoutMs, ...(body && { body }) })
    return { status: answer.status, body: parse(answer.body) }
  }

  /** Returns the answer to an action, and throws a LineFault if there is none or if it is a refusal. */
  async function act(method: Method, path: string, json?: object): Promise<unknown> {
    const { status, body } = await ask(method, path, json).catch((error: NoAnswer) => {
      throw new LineFault('unreachable', `The Signal API does not answer: ${error.message}`)
    })
    if (status >= 200 && status < 300) return body
    const isFinal = status >= 400 && status < 500
    throw new LineFault(isFinal ? 'refused' : 'unreachable', reasonOf(status, body).slice(0, 300))
  }

  async function file(id: string) {
    const path = `/v1/attachments/${encodeURIComponent(id)}`
    const ask = {
      method: 'GET',
      path,
      headers,
      timeoutMs: FILE_TIMEOUT_MS,
      maxBytes: MAX_FILE_BYTES,
    } as const
    const { status, body } = await http.open(ask)
    if (status !== 200) throw new Error(`the Signal API answered ${status} instead of a file`)
    return body
  }

  return { ask, act, file }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Returns an object in any case: a proxy's error page has no fields. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? value : {}
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The API's words for a refusal. */
export function reasonOf(status: number, body: unknown): string {
  return textOf(fieldsOf(body).error).trim() || `HTTP ${status}`
}

const HIDDEN = '@signal.invalid'

/** The address of a person for Trunkline. Somebody who hides the number only has a UUID. */
export function addressOf(number: unknown, uuid: unknown = ''): string | undefined {
  const id = textOf(number) || textOf(uuid)
  return id && !id.startsWith('+') ? `${id.toLowerCase()}${HIDDEN}` : id || undefined
}

/** The person of an address, for Signal. */
export function personOf(address: string): string {
  return address.endsWith(HIDDEN) ? address.slice(0, -HIDDEN.length) : address
}
