import { fieldsOf, parseJson, textOf } from '../../core/fields.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import type { HttpAsk, HttpHeaders, LineHttp, ProbeHost } from '../host.js'
import type { SmsGateSettings } from './settings.js'

export interface PhoneAnswer {
  status: number
  headers: HttpHeaders
  json: unknown
  /** The app's own words about a failure, without the password. */
  fault: string
}

/** The app on the phone. Calls throw NoAnswer if it does not answer. */
export interface Phone {
  settings: SmsGateSettings
  call(method: HttpAsk['method'], path: string, json?: unknown): Promise<PhoneAnswer>
  open(path: string): ReturnType<LineHttp['open']>
}

/** The app answered something else than what was asked for. */
export class PhoneFault extends Error {
  constructor(readonly answer: Pick<PhoneAnswer, 'status' | 'fault'>) {
    super(answer.fault || `The phone answered HTTP ${answer.status}`)
  }
}

const TIMEOUT_MS = 20_000
const MEDIA_TIMEOUT_MS = 120_000
const MAX_MEDIA_BYTES = 50_000_000
const MAX_FAULT_CHARS = 300

export function createPhone(settings: SmsGateSettings, host: Pick<ProbeHost, 'http'>): Phone {
  const http = host.http(settings.url)
  const { username, password } = settings
  const key = Buffer.from(`${username}:${password}`).toString('base64')
  const authorization = `Basic ${key}`
  const redact = (text: string) =>
    text.replaceAll(password, '•••').replaceAll(key, '•••').slice(0, MAX_FAULT_CHARS)
  return {
    settings,
    async call(method, path, json) {
      const { status, headers, body } = await http.request({
        method,
        path,
        headers: {
          authorization,
          accept: 'application/json',
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        timeoutMs: TIMEOUT_MS,
      })
      const answer = parseJson(body)
      return {
        status,
        headers,
        json: answer,
        fault: status < 400 ? '' : redact(textOf(fieldsOf(answer).message)),
      }
    },
    open: (path) =>
      http.open({
        method: 'GET',
        path,
        headers: { authorization },
        timeoutMs: MEDIA_TIMEOUT_MS,
        maxBytes: MAX_MEDIA_BYTES,
      }),
  }
}

/** The JSON of a successful answer; throws PhoneFault for any other. */
export async function ask(phone: Phone, method: HttpAsk['method'], path: string, json?: unknown) {
  const answer = await phone.call(method, path, json)
  if (answer.status < 200 || answer.status > 299) throw new PhoneFault(answer)
  return answer
}

/** Whether the app itself answers here, and not something else at its address. It needs no password for this. */
export async function isApp(phone: Phone): Promise<boolean> {
  const { json } = await phone.call('GET', '/health')
  return ['pass', 'warn', 'fail'].includes(textOf(fieldsOf(json).status).toLowerCase())
}

/** Error fields for the log. The app's words may quote numbers and texts, so only the status is told. */
export function troubleOf(error: unknown): object {
  if (error instanceof NoAnswer) return { reason: error.message }
  return error instanceof PhoneFault ? { reason: `HTTP ${error.answer.status}` } : { err: error }
}
