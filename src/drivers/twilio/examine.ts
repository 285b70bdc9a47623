import { fieldsOf, textOf } from '../../core/fields.js'
import type { Line } from '../../core/lines/line.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import { bad, fine, type Observation } from '../../core/lines/observation.js'
import { hostOf } from '../../core/lines/reach.js'
import type { Api, ApiAnswer } from './api.js'
import { isWhatsApp } from './channels.js'
import { wordsOf } from './codes.js'
import { hasCallsAt, numberIn, type PhoneNumber, servicePath, takesCalls } from './number.js'
import { examineRcs, examineSender } from './senders.js'

export interface Examined {
  found: Observation[]
  number?: PhoneNumber
}

/** Looks at the account and the number without changing anything. `callbackUrl` is empty before the line exists. */
export async function examine(api: Api, line: Pick<Line, 'number'>, callbackUrl = ''): Promise<Examined> {
  const { auth_token: token, api_key: key, api_secret: secret } = api.settings
  if (!token && !(key && secret))
    return {
      found: [bad('OFFLINE', 'The credentials are missing', 'Give auth_token, or api_key and api_secret.')],
    }
  let answer: ApiAnswer
  try {
    answer = await api.get(`IncomingPhoneNumbers.json?${new URLSearchParams({ PhoneNumber: line.number })}`)
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return {
      found: [bad('OFFLINE', `Twilio does not answer: ${error.message}`, 'Check api_url and the network.')],
    }
  }
  const trouble = refusalIn(answer)
  if (trouble) return { found: [trouble] }
  const found = [fine('Twilio answers and knows the credentials')]
  if (!token)
    found.push(fine('Without auth_token no webhook can be checked; Trunkline asks Twilio for all news'))
  // The number of a WhatsApp sender may be of another carrier.
  if (isWhatsApp(api.settings))
    return { found: [...found, await examineSender(api, 'whatsapp', line.number)] }
  const number = numberIn(answer.json, line.number)
  if (!number) {
    const what = 'The number does not belong to this account'
    return {
      found: [...found, bad('DEGRADED', what, 'Check the number and account_sid, also of subaccounts.')],
    }
  }
  return {
    found: [
      ...found,
      ...abilitiesOf(number, api),
      ...(await examineRcs(api)),
      ...(await wiringOf(api, number, callbackUrl)),
    ],
    number,
  }
}

function refusalIn({ status, code, json }: ApiAnswer): Observation | undefined {
  if (status === 200 && Array.isArray(fieldsOf(json).incoming_phone_numbers)) return undefined
  if (status === 401 || code === 20005) {
    const advice = 'Copy account_sid and auth_token, or the API key, from the Twilio console.'
    return bad('OFFLINE', code === 20005 ? wordsOf(code) : 'Twilio rejects the credentials', advice)
  }
  if (status === 403)
    return bad(
      'DEGRADED',
      'The API key may not read phone numbers',
      'Give it that permission, or use a standard key.',
    )
  if (status === 200 || code === undefined)
    return bad(
      'OFFLINE',
      `Something else than Twilio answers (HTTP ${status})`,
      'Check api_url and the network.',
    )
  return bad('DEGRADED', `Twilio answered HTTP ${status}: ${wordsOf(code)}`, 'See https://status.twilio.com.')
}

function abilitiesOf({ can }: PhoneNumber, { settings }: Api): Observation[] {
  if (!can.sms) return [bad('DEGRADED', 'The number cannot send texts', 'Buy a number with SMS.')]
  const names = [...(['sms', 'mms', 'voice'] as const)].filter((name) => can[name])
  const found = [fine(`The number can do ${names.map((name) => name.toUpperCase()).join(', ')}`)]
  if (!can.mms && settings.mms !== false)
    found.push(bad('DEGRADED', 'The number cannot send MMS', 'Set mms to false, or buy a number with MMS.'))
  return found
}

/** Where messages to the number go. Those that go elsewhere still arrive, by asking. */
async function wiringOf(api: Api, number: PhoneNumber, callbackUrl: string): Promise<Observation[]> {
  const found: Observation[] = []
  const elsewhere = (what: string) =>
    fine(
      api.settings.wire
        ? `${what}; Trunkline changes that`
        : `${what}; Trunkline reads them by asking Twilio`,
    )
  if (number.application)
    found.push(elsewhere('An application (SmsApplicationSid) takes messages to the number'))
  else if (number.smsUrl === '') found.push(elsewhere('No webhook is set for messages to the number'))
  else if (number.smsUrl.split('#')[0] !== callbackUrl)
    found.push(elsewhere(`Messages to the number go to ${hostOf(number.smsUrl)}, which may answer them`))
  found.push(...callsOf(api, number, callbackUrl))
  if (api.settings.messaging_service_sid) found.push(...(await serviceOf(api, number, elsewhere)))
  return found
}

/** Where calls to the number go. Trunkline hears only of calls that come to it. */
function callsOf(api: Api, number: PhoneNumber, callbackUrl: string): Observation[] {
  const { voice, wire } = api.settings
  if (!number.can.voice)
    return voice
      ? [
          bad(
            'DEGRADED',
            'The number cannot take calls',
            'Remove the setting voice, or buy a number with voice.',
          ),
        ]
      : []
  if (voice === false || hasCallsAt(number, callbackUrl)) return []
  const isChanged = wire && takesCalls(api, number, callbackUrl)
  return [fine(`${destinationOf(number)}; Trunkline ${isChanged ? 'changes that' : 'does not hear of them'}`)]
}

function destinationOf({ trunk, voiceApplication, voiceUrl }: PhoneNumber): string {
  if (trunk) return 'Calls to the number go to a SIP trunk'
  if (voiceApplication) return 'An application (VoiceApplicationSid) takes calls to the number'
  return voiceUrl === ''
    ? 'No webhook is set for calls to the number'
    : `Calls to the number go to ${hostOf(voiceUrl)}`
}

async function serviceOf(
  api: Api,
  number: PhoneNumber,
  elsewhere: (what: string) => Observation,
): Promise<Observation[]> {
  const service = await api.messaging(servicePath(api))
  if (service.status === 404)
    return [bad('DEGRADED', 'The Messaging Service does not exist', 'Check messaging_service_sid.')]
  if (service.status !== 200) return [fine('The Messaging Service cannot be examined with these credentials')]
  const { inbound_request_url: url, use_inbound_webhook_on_number: usesNumber } = fieldsOf(service.json)
  const found: Observation[] = []
  if (usesNumber !== true)
    found.push(
      elsewhere(
        textOf(url) === ''
          ? 'The Messaging Service drops messages to its numbers'
          : `The Messaging Service sends messages to its numbers to ${hostOf(textOf(url))}`,
      ),
    )
  const pool = await api.messaging(`${servicePath(api)}/PhoneNumbers/${number.sid}`)
  if (pool.status === 404)
    found.push(bad('DEGRADED', 'The number is not in the Messaging Service', 'Add it to the sender pool.'))
  return found
}
