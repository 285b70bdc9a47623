import { fieldsOf, listOf, parseJson, textOf, wholeOf } from '../../core/fields.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import { plainWords } from '../../core/lines/plain-words.js'
import type { HttpHeaders, LineHttp, ProbeHost } from '../host.js'
import type { TwilioSettings } from './settings.js'

export interface ApiAnswer {
  status: number
  headers: HttpHeaders
  json: unknown
  /** Twilio's own number of a failure; undefined if the answer is not Twilio's. */
  code: number | undefined
  /** Twilio's words about a failure, without numbers and secrets. */
  fault: string
}

/** Twilio's API for one account. Calls throw NoAnswer if there is no answer. */
export interface Api {
  settings: TwilioSettings
  /** Path below the account; a path that Twilio gave is used as it is. */
  get(path: string): Promise<ApiAnswer>
  post(path: string, form: URLSearchParams): Promise<ApiAnswer>
  /** Twilio's API of Messaging Services, at an address of its own; with a form it changes something. */
  messaging(path: string, form?: URLSearchParams): Promise<ApiAnswer>
  open(path: string): ReturnType<LineHttp['open']>
}

/** Twilio answered something else than what was asked for. */
export class ApiFault extends Error {
  constructor(readonly answer: Pick<ApiAnswer, 'status' | 'code' | 'fault'>) {
    super(answer.fault || `Twilio answered HTTP ${answer.status}`)
  }
}

export const API_URL = 'https://api.twilio.com'
const VERSION = '/2010-04-01/'
const TIMEOUT_MS = 20_000
const MEDIA_TIMEOUT_MS = 120_000
const MAX_MEDIA_BYTES = 50_000_000

export function createApi(settings: TwilioSettings, host: Pick<ProbeHost, 'http'>): Api {
  const base = settings.api_url ?? API_URL
  const main = host.http(base)
  const messaging = host.http(base.replace('//api.', '//messaging.'))
  const { account_sid: account, auth_token: token = '', api_key: key, api_secret: secret } = settings
  const user = key && secret ? `${key}:${secret}` : `${account}:${token}`
  const authorization = `Basic ${Buffer.from(user).toString('base64')}`
  const pathOf = (path: string) => (path.startsWith('/') ? path : `${VERSION}Accounts/${account}/${path}`)
  const hidden = [token, secret, settings.secondary_token]

  async function call(http: LineHttp, path: string, form?: URLSearchParams): Promise<ApiAnswer> {
    const { status, headers, body } = await http.request({
      method: form ? 'POST' : 'GET',
      path,
      headers: {
        authorization,
        accept: 'application/json',
        ...(form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      },
      ...(form ? { body: form.toString() } : {}),
      timeoutMs: TIMEOUT_MS,
    })
    const json = parseJson(body)
    const failure = status < 400 ? {} : fieldsOf(json)
    return {
      status,
      headers,
      json,
      code: wholeOf(failure.code),
      fault: plainWords(textOf(failure.message), hidden),
    }
  }

  return {
    settings,
    get: (path) => call(main, pathOf(path)),
    post: (path, form) => call(main, pathOf(path), form),
    messaging: (path, form) => call(messaging, path, form),
    open: (path) =>
      main.open({
        method: 'GET',
        path: pathOf(path),
        headers: { authorization },
        timeoutMs: MEDIA_TIMEOUT_MS,
        maxBytes: MAX_MEDIA_BYTES,
      }),
  }
}

/** The JSON of a successful answer; throws ApiFault for any other. */
export async function ask(api: Api, path: string): Promise<ApiAnswer> {
  const answer = await api.get(path)
  if (answer.status !== 200 || fieldsOf(answer.json) !== answer.json) throw new ApiFault(answer)
  return answer
}

/** One page of a list. */
export interface Page {
  rows: readonly unknown[]
  /** Time of Twilio's clock, which may differ from ours. */
  serverNow: number | undefined
}

/** The pages of a list, as Twilio links them; throws ApiFault for a page that is no list. */
export async function* pagesOf(api: Api, path: string, name: string): AsyncGenerator<Page> {
  let next = path
  do {
    const answer = await ask(api, next)
    const { [name]: rows, next_page_uri: link } = fieldsOf(answer.json)
    if (!Array.isArray(rows)) throw new ApiFault({ ...answer, fault: 'The answer of Twilio is no list' })
    yield { rows: listOf(rows), serverNow: Date.parse(textOf(answer.headers.date)) || undefined }
    next = textOf(link)
    if (next !== '' && !next.startsWith(VERSION))
      throw new ApiFault({ ...answer, fault: 'The list has a strange link' })
  } while (next !== '')
}

/** Error fields for the log. Twilio's words may quote texts, so only numbers are told. */
export function troubleOf(error: unknown): object {
  if (error instanceof NoAnswer) return { reason: error.message }
  if (!(error instanceof ApiFault)) return { err: error }
  return { reason: `HTTP ${error.answer.status}`, code: error.answer.code }
}
