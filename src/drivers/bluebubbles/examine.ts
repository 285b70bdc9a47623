import { type Fields, fieldsOf, flagOf, listOf, textOf } from '../../core/fields.js'
import type { LineState } from '../../core/lines/line.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import { fine, type Observation, bad as wrong } from '../../core/lines/observation.js'
import type { Finding } from '../contract.js'
import type { Mac, MacAnswer } from './mac.js'
import { addressOf } from './reading/rows.js'

export interface Examination {
  findings: Observation[]
  /** Whether the Mac sends from the line's number; undefined if the server does not say. */
  hasAlias: boolean | undefined
}

const ASK_TIMEOUT_MS = 15_000
const MAX_SKEW_S = 60

/** Checks the Mac in order of dependency and stops at the first problem that prevents sending. */
export async function examine(mac: Mac, number: string): Promise<Examination> {
  const findings: Observation[] = []
  const good = (what: string) => findings.push(fine(what))
  const bad = (state: LineState, what: string, advice: string) => findings.push(wrong(state, what, advice))
  const end = (hasAlias?: boolean): Examination => ({ findings, hasAlias })

  const ping = await ask(mac, '/ping')
  if (typeof ping === 'string') {
    bad(
      'OFFLINE',
      `The Mac cannot be reached: ${ping}`,
      'Check the url setting, and that the server runs and the Mac is awake.',
    )
    return end()
  }
  if (ping.status === 401 || ping.status === 403) {
    bad(
      'OFFLINE',
      'The server does not accept the password',
      'Copy the password from the server window on the Mac.',
    )
    return end()
  }
  if (ping.status !== 200 || ping.data !== 'pong') {
    bad(
      'OFFLINE',
      'The program at this url is not BlueBubbles Server',
      'Check the url setting, above all its port.',
    )
    return end()
  }
  good('The server answers and accepts the password')
  const answer = await ask(mac, '/server/info')
  const info = fieldsOf(typeof answer === 'string' ? undefined : answer.data)
  if (flagOf(info.private_api) === false) {
    bad(
      'OFFLINE',
      'The Private API is switched off',
      'Switch it on in the settings of the server. Lines cannot work without it.',
    )
    return end()
  }
  if (flagOf(info.helper_connected) === false) {
    bad('OFFLINE', 'The Private API helper is not connected', HELPER)
    return end()
  }
  if (info.detected_imessage === '' || info.detected_imessage === null) {
    bad(
      'OFFLINE',
      'iMessage is not signed in on this Mac',
      'Sign in to iMessage in the settings of Messages.',
    )
    return end()
  }
  const skew = Number(info.macos_time_sync ?? 0)
  if (Math.abs(skew) > MAX_SKEW_S)
    bad(
      'DEGRADED',
      `The clock of the Mac is off by ${Math.round(Math.abs(skew))} s`,
      'Let macOS set date and time automatically.',
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
      'Add the number in Messages: Settings, iMessage, You can be reached at.',
    )
  if (hasAlias) good('The Mac sends from the number of this line')
  if (mac.settings.sms && flagOf(fieldsOf(account.data).sms_forwarding_enabled) === false)
    bad(
      'DEGRADED',
      'Text Message Forwarding is off',
      'Switch it on on the iPhone, or set sms to false for this line.',
    )
  return end(hasAlias)
}

const HELPER = 'Restart Messages and the server on the Mac; see its Private API page.'

/** The addresses that the account may send from; undefined if the server lists none. */
function aliasesOf(account: Fields): string[] | undefined {
  const named = (value: unknown) =>
    listOf(value).flatMap((one) => addressOf(typeof one === 'string' ? one : fieldsOf(one).Alias) ?? [])
  const vetted = named(account.vetted_aliases)
  const all = vetted.length > 0 ? vetted : named(account.aliases)
  return all.length === 0 ? undefined : all
}

/** The answer, or the reason why there is none. */
async function ask(mac: Mac, path: string): Promise<MacAnswer | string> {
  try {
    return await mac.call({ path, timeoutMs: ASK_TIMEOUT_MS })
  } catch (error) {
    if (error instanceof NoAnswer) return error.message
    throw error
  }
}

/** Checks the `server` setting against the calls that only the Swift server has. */
export async function detectKind(mac: Mac): Promise<Finding | undefined> {
  const answer = await ask(mac, '/server/info')
  const version = textOf(fieldsOf(typeof answer === 'string' ? undefined : answer.data).server_version)
  const v2 = await mac
    .call({ path: '/icloud/findmy/status', version: 2, timeoutMs: ASK_TIMEOUT_MS })
    .catch(() => undefined)
  if (!v2) return undefined
  const isSwift = v2.isEnvelope && v2.status !== 404
  const { server = 'electron' } = mac.settings
  const what = `The server says it is version ${version || 'unknown'}`
  if (isSwift === (server === 'swift')) return { ok: true, what }
  const seems = isSwift ? 'swift' : 'electron or imessage_rs'
  return {
    ok: false,
    what: `${what} and seems to be ${seems}, but the line is set to ${server}`,
    advice: 'Change the server setting of the line.',
  }
}
