import { NoAnswer } from '../../core/lines/no-answer.js'
import type { DriverClock, LineHttp, ProbeHost } from '../host.js'
import { type Fields, fieldsOf, parsed, textOf } from './json.js'
import { type Abilities, abilitiesOf, type BlueBubblesSettings } from './settings.js'

/** An answer of the server on the Mac. */
export interface Said {
  status: number
  /** Whether it has the form of a BlueBubbles answer at all. */
  isEnvelope: boolean
  data: unknown
  metadata: Fields
  /** The server's own words on an error, fit for people. */
  fault: string
}

export interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below /api/v1. */
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
  /** Without an answer it is a NoAnswer. */
  call(call: Call): Promise<Said>
  /** The answer's bytes as they come. */
  open(call: Call): ReturnType<LineHttp['open']>
}

/** The server said something else than was asked for; nothing was done. */
export class MacFault extends Error {
  constructor(
    readonly said: Said,
    what: string,
  ) {
    super(said.fault ? `${what}: ${said.fault}` : `${what} (HTTP ${said.status})`)
  }
}

const READ_MS = 30_000
const MAX_FAULT = 300

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
      timeoutMs: timeoutMs ?? READ_MS,
      ...(maxBytes ? { maxBytes } : {}),
    }
  }

  /** An error of the server may quote what it was asked, the password with it. */
  function discreet(text: string): string {
    const secrets = [settings.password, encodeURIComponent(settings.password)]
    return secrets.reduce((clean, secret) => clean.replaceAll(secret, '•••'), text).slice(0, MAX_FAULT)
  }

  return {
    settings,
    abilities: abilitiesOf(settings),
    clock: host.clock,
    async call(call) {
      const { status, body } = await http.request(askOf(call))
      const answer = fieldsOf(parsed(body))
      const error = fieldsOf(answer.error)
      return {
        status,
        isEnvelope: isEnvelope(answer),
        data: answer.data,
        metadata: fieldsOf(answer.metadata),
        fault: status < 400 ? '' : discreet(textOf(error.message) || textOf(answer.message)),
      }
    },
    open: (call) => http.open(askOf(call)),
  }
}

/** Whether an answer has the form of those of BlueBubbles: anything on the way there may answer, too. */
export function isEnvelope(answer: Fields): boolean {
  return typeof answer.status === 'number' && typeof answer.message === 'string'
}

/** The data of an answer, when the server did what it was asked to. */
export async function dataOf(mac: Mac, what: string, call: Call): Promise<unknown> {
  const said = await mac.call(call)
  if (said.status < 200 || said.status > 299 || !said.isEnvelope) throw new MacFault(said, what)
  return said.data
}

/** Ids hold semicolons and plus signs. */
export function inPath(id: string): string {
  return encodeURIComponent(id)
}

/** For the log, which holds no numbers and no content: a server's words may quote both. */
export function troubleOf(error: unknown): object {
  if (error instanceof NoAnswer) return { reason: error.message }
  return error instanceof MacFault ? { reason: `HTTP ${error.said.status}` } : { err: error }
}

export function pause(clock: DriverClock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}
