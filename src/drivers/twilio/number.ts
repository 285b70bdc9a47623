import { parseUrl } from '../../base/parse-url.js'
import { fieldsOf, listOf, textOf } from '../../core/fields.js'
import { type Api, ApiFault } from './api.js'
import { CALL_STATUS, VOICE } from './voice/calls.js'

/** A number of the account, and where messages and calls to it go. */
export interface PhoneNumber {
  sid: string
  can: { sms: boolean; mms: boolean; voice: boolean }
  smsUrl: string
  /** Takes messages instead of the URL. */
  application: string
  voiceUrl: string
  /** Where the end of a call is told. */
  callStatusUrl: string
  /** Take calls instead of the URL. */
  voiceApplication: string
  trunk: string
}

export function numberIn(json: unknown, number: string): PhoneNumber | undefined {
  const rows = listOf(fieldsOf(json).incoming_phone_numbers).map(fieldsOf)
  const row = rows.find(({ phone_number }) => phone_number === number)
  const sid = textOf(row?.sid)
  if (!row || !/^PN[0-9a-fA-F]{32}$/.test(sid)) return undefined
  const { sms, mms, voice } = lowerCased(fieldsOf(row.capabilities))
  return {
    sid,
    can: { sms: sms === true, mms: mms === true, voice: voice === true },
    smsUrl: textOf(row.sms_url),
    application: textOf(row.sms_application_sid),
    voiceUrl: textOf(row.voice_url),
    callStatusUrl: textOf(row.status_callback),
    voiceApplication: textOf(row.voice_application_sid),
    trunk: textOf(row.trunk_sid),
  }
}

/** Twilio has written SMS and sms. */
function lowerCased(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]))
}

export function servicePath({ settings }: Pick<Api, 'settings'>): string {
  return `/v1/Services/${settings.messaging_service_sid}`
}

/** Twilio's own example, which new numbers have. */
const DEMO = /^https?:\/\/demo\.twilio\.com\//i

/** Whether calls to the number come to this server. */
export function hasCallsAt({ voiceUrl, voiceApplication, trunk }: PhoneNumber, url: string): boolean {
  return url !== '' && voiceUrl.split('#')[0] === url + VOICE && !voiceApplication && !trunk
}

/** Whether calls to the number are meant for this line: its path has a secret, whatever address the server had. */
export function hasOwnCalls({ voiceUrl, voiceApplication, trunk }: PhoneNumber, url: string): boolean {
  const path = url === '' ? undefined : parseUrl(url + VOICE)?.pathname
  return path !== undefined && parseUrl(voiceUrl)?.pathname === path && !voiceApplication && !trunk
}

/** Whether Trunkline takes the calls to a number: those that go nowhere else, or all if the settings say so. */
export function takesCalls({ settings }: Pick<Api, 'settings'>, number: PhoneNumber, url: string): boolean {
  const { can, voiceUrl, voiceApplication, trunk } = number
  if (!can.voice || settings.voice === false) return false
  if (settings.voice === true || hasOwnCalls(number, url)) return true
  return !voiceApplication && !trunk && (voiceUrl === '' || DEMO.test(voiceUrl))
}

/**
 * Lets messages and calls to the number come to this server. A Messaging Service decides for its numbers; it is told to leave
 * that to each number, because other numbers of it are other lines.
 */
export async function wire(api: Api, number: PhoneNumber, url: string): Promise<void> {
  const form = new URLSearchParams({ ...messageWiring(number, url), ...callWiring(api, number, url) })
  if (form.size > 0) {
    const answer = await api.post(`IncomingPhoneNumbers/${number.sid}.json`, form)
    if (answer.status !== 200) throw new ApiFault(answer)
  }
  if (!api.settings.messaging_service_sid) return
  const answer = await api.messaging(
    servicePath(api),
    new URLSearchParams({ UseInboundWebhookOnNumber: 'true' }),
  )
  if (answer.status !== 200) throw new ApiFault(answer)
}

function messageWiring({ smsUrl, application }: PhoneNumber, url: string): Record<string, string> {
  if (smsUrl === url && !application) return {}
  return { SmsUrl: url, SmsMethod: 'POST', SmsApplicationSid: '' }
}

function callWiring(api: Api, number: PhoneNumber, url: string): Record<string, string> {
  if (!takesCalls(api, number, url)) return {}
  if (hasCallsAt(number, url) && number.callStatusUrl === url + CALL_STATUS) return {}
  return {
    VoiceUrl: url + VOICE,
    VoiceMethod: 'POST',
    StatusCallback: url + CALL_STATUS,
    StatusCallbackMethod: 'POST',
    ...(number.voiceApplication ? { VoiceApplicationSid: '' } : {}),
    ...(number.trunk ? { TrunkSid: '' } : {}),
  }
}
