import { fieldsOf, listOf, parseJson, textOf, wholeOf } from '../../core/fields.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import { plainWords } from '../../core/lines/plain-words.js'
import type { HttpAsk, HttpHeaders, ProbeHost } from '../host.js'
import type { TelnyxSettings } from './settings.js'

export interface ApiAnswer {
  status: number
  headers: HttpHeaders
  json: unknown
  /** Telnyx's own number of a failure; undefined if the answer is not Telnyx's. */
  code: number | undefined
  /** Telnyx's words about a failure, without numbers and secrets. */
  fault: string
}

/** Telnyx's API for one account. Calls throw NoAnswer if there is no answer. */
export interface Api {
  settings: TelnyxSettings
  get(path: string): Promise<ApiAnswer>
  post(path: string, body: object, headers?: Record<string, string>): Promise<ApiAnswer>
  patch(path: string, body: object): Promise<ApiAnswer>
}

/** Telnyx answered something else than what was asked for. */
export class ApiFault extends Error {
  constructor(readonly answer: Pick<ApiAnswer, 'status' | 'code' | 'fault'>) {
    super(answer.fault || `Telnyx answered HTTP ${answer.status}`)
  }
}

export const API_URL = 'https://api.telnyx.com/v2'
const TIMEOUT_MS = 20_000

export function createApi(settings: TelnyxSettings, host: Pick<ProbeHost, 'http'>): Api {
  const http = host.http(settings.api_url ?? API_URL)
  const { api_key: key } = settings

  async function call(
    method: HttpAsk['method'],
    path: string,
    given?: object,
    headers: Record<string, string> = {},
  ): Promise<ApiAnswer> {
    const answer = await http.request({
      method,
      path,
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'application/json',
        ...(given ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(given ? { body: JSON.stringify(given) } : {}),
      timeoutMs: TIMEOUT_MS,
    })
    const json = parseJson(answer.body)
    const failure = answer.status < 400 ? undefined : failureIn(fieldsOf(json).errors)
    const fault = plainWords(failure?.words ?? '', [key])
    return { status: answer.status, headers: answer.headers, json, code: failure?.code, fault }
  }

  return {
    settings,
    get: (path) => call('GET', path),
    post: (path, body, headers) => call('POST', path, body, headers),
    patch: (path, body) => call('PATCH', path, body),
  }
}

/** The first of a list of errors that has a number. */
export function failureIn(errors: unknown): { code: number; words: string } | undefined {
  for (const one of listOf(errors)) {
    const { code, title, detail } = fieldsOf(one)
    const number = wholeOf(code) ?? (/^\d{4,6}$/.test(textOf(code)) ? Number(code) : undefined)
    if (number !== undefined && number > 0) return { code: number, words: textOf(detail) || textOf(title) }
  }
  return undefined
}

/** The `data` of a successful answer; throws ApiFault for any other. */
export async function dataOf(api: Api, path: string): Promise<unknown> {
  const answer = await api.get(path)
  const { data } = fieldsOf(answer.json)
  if (answer.status !== 200 || typeof data !== 'object' || data === null) throw new ApiFault(answer)
  return data
}

const PAGE = 100
/** A list that goes on after this many pages cannot be read to its end. */
const MAX_PAGES = 50

/** All rows of a list; throws ApiFault for a page that is no list. */
export async function rowsOf(api: Api, path: string, query: URLSearchParams): Promise<unknown[]> {
  const rows: unknown[] = []
  query.set('page[size]', String(PAGE))
  for (let page = 1; ; page++) {
    query.set('page[number]', String(page))
    const answer = await api.get(`${path}?${query}`)
    const { data, meta } = fieldsOf(answer.json)
    if (answer.status !== 200) throw new ApiFault(answer)
    if (!Array.isArray(data) || page > MAX_PAGES)
      throw new ApiFault({ ...answer, fault: 'The answer of Telnyx is no list' })
    rows.push(...data)
    if (data.length === 0 || page >= (wholeOf(fieldsOf(meta).total_pages) ?? 0)) return rows
  }
}

/** Error fields for the log. Telnyx's words may quote texts, so only numbers are told. */
export function troubleOf(error: unknown): object {
  if (error instanceof NoAnswer) return { reason: error.message }
  if (!(error instanceof ApiFault)) return { err: error }
  return { reason: `HTTP ${error.answer.status}`, code: error.answer.code }
}
