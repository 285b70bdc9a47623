import { fieldsOf, listOf, textOf } from '../../core/fields.js'
import { type Api, ApiFault } from './api.js'

/** A number of the account, and where messages to it go. */
export interface PhoneNumber {
  sid: string
  can: { sms: boolean; mms: boolean; voice: boolean }
  smsUrl: string
  /** Takes messages instead of the URL. */
  application: string
  /** Takes calls. */
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

/**
 * Lets messages to the number come to this server. A Messaging Service decides for its numbers; it is told to leave
 * that to each number, because other numbers of it are other lines.
 */
export async function wire(api: Api, { sid, smsUrl, application }: PhoneNumber, url: string): Promise<void> {
  if (smsUrl !== url || application) {
    const form = new URLSearchParams({ SmsUrl: url, SmsMethod: 'POST', SmsApplicationSid: '' })
    const answer = await api.post(`IncomingPhoneNumbers/${sid}.json`, form)
    if (answer.status !== 200) throw new ApiFault(answer)
  }
  if (!api.settings.messaging_service_sid) return
  const form = new URLSearchParams({ UseInboundWebhookOnNumber: 'true' })
  const answer = await api.messaging(servicePath(api), form)
  if (answer.status !== 200) throw new ApiFault(answer)
}
