import { type Fields, fieldsOf, parseJson, textOf } from '../../core/fields.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import type { DriverClock, LineHttp, ProbeHost } from '../host.js'
import { type Abilities, abilitiesOf, type BlueBubblesSettings } from './settings.js'

/** An answer of the server on the Mac. */
export interface MacAnswer {
  status: number
  /** Whether the body has the shape of a BlueBubbles answer. */
  isEnvelope: boolean
  data: unknown
  metadata: Fields
  /** The server's error text, without the password; empty for a success. */
  fault: string
}

export interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path below /api/v1 (or /api/v2). */
  path: string
  query?: Record<string, string | number>
  json?: unknown
  body?: { contentType: string; bytes: AsyncIterable<Buffer> }
  timeoutMs?: number
  maxBytes?: number
  version?: 1 | 2
}

/** The server on the Mac. */
export interface Mac {
  settings: BlueBubblesSettings
  abilities: Abilities
  clock: DriverClock
  /** Throws NoAnswer if the server does not answer. */
  call(call: Call): Promise<MacAnswer>
  /** Streams the answer's body. */
  open(call: Call): ReturnType<LineHttp['open']>
}

/** The server did not carry out the request. */
export class MacFault extends Error {
  constructor(
    readonly answer: MacAnswer,
    what: string,
  ) {
    super(answer.fault ? `${what}: ${answer.fault}` : `${what} (HTTP ${answer.status})`)
  }
}

const READ_TIMEOUT_MS = 30_000
const MAX_FAULT_CHARS = 300

export function createMac(settings: BlueBubblesSettings, host: ProbeHost): Mac {
  const http = host.http(settings.url)

  function askOf({ method = 'GET', path, query = {}, json, body, timeoutMs, maxBytes, version = 1 }: Call) {
    const words = Object.entries({ ...query, password: settings.password })
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&')
    const contentType = body?.contentType ?? (json === undefined ? undefined : 'application/json')
    return {
      method,
      path: `/api/v${version}${path}?${words}`,
      ...(contentType ? { headers: { 'content-type': contentType } } : {}),
      body: body?.bytes ?? (json === undefined ? undefined : JSON.stringify(json)),
      timeoutMs: timeoutMs ?? READ_TIMEOUT_MS,
      ...(maxBytes ? { maxBytes } : {}),
    }
  }

  /** Server errors may quote the request URL, which holds the password. */
  function redact(text: string): string {
    const secrets = [settings.password, encodeURIComponent(settings.password)]
    return secrets.reduce((clean, secret) => clean.replaceAll(secret, '•••'), text).slice(0, MAX_FAULT_CHARS)
  }

  return {
    settings,
    abilities: abilitiesOf(settings),
    clock: host.clock,
    async call(call) {
      const { status, body } = await http.request(askOf(call))
      const answer = fieldsOf(parseJson(body))
      const error = fieldsOf(answer.error)
      return {
        status,
        isEnvelope: isEnvelope(answer),
        data: answer.data,
        metadata: fieldsOf(answer.metadata),
        fault: status < 400 ? '' : redact(textOf(error.message) || textOf(answer.message)),
      }
    },
    open: (call) => http.open(askOf(call)),
  }
}

/** Whether an answer has the shape of a BlueBubbles answer; a proxy in between may answer instead. */
export function isEnvelope(answer: Fields): boolean {
  return typeof answer.status === 'number' && typeof answer.message === 'string'
}

/** The data of a successful answer; throws MacFault for any other. */
export async function dataOf(mac: Mac, what: string, call: Call): Promise<unknown> {
  const answer = await mac.call(call)
  if (answer.status < 200 || answer.status > 299 || !answer.isEnvelope) throw new MacFault(answer, what)
  return answer.data
}

/** Chat ids contain semicolons and plus signs. */
export function inPath(id: string): string {
  return encodeURIComponent(id)
}

/**
 * Error fields for the log, which must not contain phone numbers or message texts: the server's error texts may
 * quote both.
 */
export function troubleOf(error: unknown): object {
  if (error instanceof NoAnswer) return { reason: error.message }
  return error instanceof MacFault ? { reason: `HTTP ${error.answer.status}` } : { err: error }
}

export function pause(clock: DriverClock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}
