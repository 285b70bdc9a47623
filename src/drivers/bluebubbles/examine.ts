import type { LineState } from '../../core/lines/line.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import type { Finding } from '../contract.js'
import { type Fields, fieldsOf, flagOf, listOf, textOf } from './json.js'
import type { Mac, Said } from './mac.js'
import { addressOf } from './reading/rows.js'

/** One thing about a Mac, and what the line is because of it. */
export interface Observation extends Finding {
  state: LineState
}

export interface Examination {
  findings: Observation[]
  /** Whether the line's number is one the Mac sends from; undefined when it does not say. */
  hasAlias: boolean | undefined
}

const ASK_MS = 15_000
const SKEW_S = 60

/** Looks at everything that has to be right on a Mac, in the order in which it goes wrong, up to what stops it. */
export async function examine(mac: Mac, number: string): Promise<Examination> {
  const findings: Observation[] = []
  const good = (what: string) => findings.push({ ok: true, what, state: 'ONLINE' })
  const bad = (state: LineState, what: string, advice: string) =>
    findings.push({ ok: false, what, advice, state })
  const end = (hasAlias?: boolean): Examination => ({ findings, hasAlias })

  const ping = await ask(mac, '/ping')
  if (typeof ping === 'string') {
    bad(
      'OFFLINE',
      `The Mac cannot be reached: ${ping}`,
      'Check the url, and that the server runs and the Mac is awake.',
    )
    return end()
  }
  if (ping.status === 401 || ping.status === 403) {
    bad(
      'OFFLINE',
      'The server does not accept the password',
      'Copy it from the window of the server on the Mac.',
    )
    return end()
  }
  if (ping.status !== 200 || ping.data !== 'pong') {
    bad(
      'OFFLINE',
      'Something else than BlueBubbles Server answers there',
      'Check the url, the port above all.',
    )
    return end()
  }
  good('The server answers, and accepts the password')
  const answer = await ask(mac, '/server/info')
  const info = fieldsOf(typeof answer === 'string' ? undefined : answer.data)
  if (flagOf(info.private_api) === false) {
    bad(
      'OFFLINE',
      'The Private API is switched off',
      'Switch it on in the settings of the server; lines need it.',
    )
    return end()
  }
  if (flagOf(info.helper_connected) === false) {
    bad('OFFLINE', 'The Private API helper is not connected', HELPER)
    return end()
  }
  if (info.detected_imessage === '' || info.detected_imessage === null) {
    bad('OFFLINE', 'iMessage is not signed in on this Mac', 'Sign in in the settings of Messages.')
    return end()
  }
  const skew = Number(info.macos_time_sync ?? 0)
  if (Math.abs(skew) > SKEW_S)
    bad(
      'DEGRADED',
      `The clock of the Mac is wrong by ${Math.round(Math.abs(skew))} s`,
      'Have it set by itself.',
    )
  const account = await ask(mac, '/icloud/account')
  if (typeof account === 'string' || account.status !== 200) {
    const why = typeof account === 'string' ? account : account.fault
    bad('OFFLINE', `The helper in Messages does not answer: ${why || 'no reason given'}`, HELPER)
    return end()
  }
  good('The helper in Messages answers')
  const aliases = aliasesOf(fieldsOf(account.data))
  const hasAlias = aliases?.includes(number)
  if (hasAlias === false)
    bad(
      'DEGRADED',
      'The Mac does not send from the number of this line',
      'Add it in Messages: Settings, iMessage, You can be reached at.',
    )
  if (hasAlias) good('The number of the line is one the Mac sends from')
  if (mac.settings.sms && flagOf(fieldsOf(account.data).sms_forwarding_enabled) === false)
    bad('DEGRADED', 'Text Message Forwarding is off', "Switch it on on the iPhone, or the line's sms off.")
  return end(hasAlias)
}

const HELPER = 'Restart Messages and the server on the Mac; see its Private API page.'

/** The addresses that Apple lets the account send from; undefined when the server names none. */
function aliasesOf(account: Fields): string[] | undefined {
  const named = (value: unknown) =>
    listOf(value).flatMap((one) => addressOf(typeof one === 'string' ? one : fieldsOf(one).Alias) ?? [])
  const vetted = named(account.vetted_aliases)
  const all = vetted.length > 0 ? vetted : named(account.aliases)
  return all.length === 0 ? undefined : all
}

/** The answer, or why there is none. */
async function ask(mac: Mac, path: string): Promise<Said | string> {
  try {
    return await mac.call({ path, timeoutMs: ASK_MS })
  } catch (error) {
    if (error instanceof NoAnswer) return error.message
    throw error
  }
}

/** Whether the server knows calls that only the rewrite has. */
export async function detectKind(mac: Mac): Promise<Finding | undefined> {
  const said = await ask(mac, '/server/info')
  const version = textOf(fieldsOf(typeof said === 'string' ? undefined : said.data).server_version)
  const v2 = await mac
    .call({ path: '/icloud/findmy/status', version: 2, timeoutMs: ASK_MS })
    .catch(() => undefined)
  if (!v2) return undefined
  const isSwift = v2.isEnvelope && v2.status !== 404
  const { server = 'electron' } = mac.settings
  const what = `The server says it is version ${version || 'unknown'}`
  if (isSwift === (server === 'swift')) return { ok: true, what }
  const seems = isSwift ? 'swift' : 'electron or imessage_rs'
  return {
    ok: false,
    what: `${what}, and seems to be ${seems}; the line is set to ${server}`,
    advice: 'Change the setting server.',
  }
}

/** Text message for those who look at the state of the line. */
export function worstOf(findings: readonly Observation[]): { state: LineState; detail?: string } {
  const wrong = findings.filter(({ ok }) => !ok)
  const worst = wrong.find(({ state }) => state === 'OFFLINE') ?? wrong[0]
  return worst
    ? { state: worst.state, detail: `${worst.what}. ${worst.advice ?? ''}`.trim() }
    : { state: 'ONLINE' }
}
