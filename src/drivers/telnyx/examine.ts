import { fieldsOf } from '../../core/fields.js'
import type { Line } from '../../core/lines/line.js'
import { NoAnswer } from '../../core/lines/no-answer.js'
import { bad, fine, type Observation } from '../../core/lines/observation.js'
import { hostOf } from '../../core/lines/reach.js'
import type { Api, ApiAnswer } from './api.js'
import { wordsOf } from './codes.js'
import {
  isOfThisServer,
  type MessagingProfile,
  numberIn,
  type PhoneNumber,
  profileIn,
  WEBHOOK_VERSION,
} from './profile.js'
import { type Agent, agentFindings, readAgent } from './rcs/agent.js'
import { readVoice, type VoiceSettings } from './voice/application.js'
import { callsOf } from './voice/examine.js'

export interface Examined {
  found: Observation[]
  profile?: MessagingProfile
  voice?: VoiceSettings | undefined
  agent?: Agent | undefined
}

/** Looks at the number and its profile without changing anything. `callbackUrl` is empty before the line exists. */
export async function examine(api: Api, line: Pick<Line, 'number'>, callbackUrl = ''): Promise<Examined> {
  try {
    const query = new URLSearchParams({ 'filter[phone_number]': line.number })
    const answer = await api.get(`/phone_numbers/messaging?${query}`)
    const trouble = refusalIn(answer)
    if (trouble) return { found: [trouble] }
    const found = [fine('Telnyx answers and knows the API key')]
    if (!api.settings.public_key)
      found.push(
        fine('Without public_key no webhook can be checked; Trunkline reads them from the log of Telnyx'),
      )
    const number = numberIn(answer.json, line.number)
    if (!number) {
      const what = 'The number does not belong to this account'
      return { found: [...found, bad('DEGRADED', what, 'Check the number and the account of the API key.')] }
    }
    const examined = await profileOf(api, number, callbackUrl)
    const voice = api.settings.voice === false ? undefined : await readVoice(api, line.number)
    found.push(...abilitiesOf(number, api), ...examined.found, ...callsOf(api, voice, callbackUrl))
    const { rcs_agent_id: agentId } = api.settings
    if (agentId === undefined) return { ...examined, voice, found }
    const agent = await readAgent(api, agentId)
    found.push(...agentFindings(api, agent, callbackUrl))
    return { ...examined, voice, agent, found }
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    const what = `Telnyx does not answer: ${error.message}`
    return { found: [bad('OFFLINE', what, 'Check api_url and the network.')] }
  }
}

function refusalIn({ status, code, json }: ApiAnswer): Observation | undefined {
  if (status === 200 && Array.isArray(fieldsOf(json).data)) return undefined
  if (status === 401)
    return bad('OFFLINE', 'Telnyx rejects the API key', 'Copy a key of version 2 from the Telnyx portal.')
  if (status === 403)
    return bad('DEGRADED', `The API key may not read phone numbers: ${wordsOf(code)}`, 'Use another key.')
  if (status === 200 || code === undefined)
    return bad('OFFLINE', `Something else than Telnyx answers (HTTP ${status})`, 'Check api_url.')
  return bad('DEGRADED', `Telnyx answered HTTP ${status}: ${wordsOf(code)}`, 'See https://status.telnyx.com.')
}

function abilitiesOf({ can }: PhoneNumber, { settings }: Api): Observation[] {
  if (!can.sms) return [bad('DEGRADED', 'The number cannot send texts', 'Enable messaging for the number.')]
  if (can.mms) return [fine('The number can do SMS and MMS')]
  const advice = 'Set mms to false, or use a number with MMS.'
  return settings.mms === false
    ? [fine('The number can do SMS')]
    : [fine('The number can do SMS'), bad('DEGRADED', 'The number cannot send MMS', advice)]
}

async function profileOf(api: Api, { profileId }: PhoneNumber, callbackUrl: string): Promise<Examined> {
  const expected = api.settings.messaging_profile_id?.toLowerCase()
  if (profileId === '') {
    const what = 'The number is in no messaging profile, so it can neither send nor receive'
    return { found: [bad('DEGRADED', what, 'Assign one in the Telnyx portal.')] }
  }
  if (expected && profileId.toLowerCase() !== expected) {
    const advice = 'Check messaging_profile_id, or assign the number to that profile.'
    return { found: [bad('DEGRADED', 'The number is in another messaging profile', advice)] }
  }
  const answer = await api.get(`/messaging_profiles/${profileId}`)
  const profile = answer.status === 200 ? profileIn(answer.json, profileId) : undefined
  if (!profile)
    return { found: [bad('DEGRADED', 'The messaging profile cannot be read', 'Check the API key.')] }
  return { found: [...settingsOf(profile), ...wiringOf(profile, api, callbackUrl)], profile }
}

function settingsOf({ isEnabled, redaction, assistant }: MessagingProfile): Observation[] {
  const found: Observation[] = []
  if (!isEnabled)
    found.push(bad('DEGRADED', 'The messaging profile is disabled', 'Enable it in the Telnyx portal.'))
  if (redaction >= 2)
    found.push(
      bad(
        'DEGRADED',
        'The messaging profile hides texts and numbers of received messages',
        'Set its redaction level to 1.',
      ),
    )
  if (assistant !== '') found.push(fine('An AI assistant of Telnyx may answer messages to the number, too'))
  return found
}

/** Where messages to the number go. */
function wiringOf(
  { webhookUrl, webhookVersion }: MessagingProfile,
  { settings }: Api,
  callbackUrl: string,
): Observation[] {
  const found: Observation[] = []
  if (webhookVersion !== WEBHOOK_VERSION)
    found.push(
      settings.wire
        ? fine('The messaging profile does not use webhooks of API version 2; Trunkline changes that')
        : bad(
            'DEGRADED',
            'The messaging profile does not use webhooks of API version 2, so their signature cannot be checked',
            'Set it to version 2 in the Telnyx portal, or set wire.',
          ),
    )
  if (webhookUrl === callbackUrl && webhookUrl !== '') return found
  if (isOfThisServer(webhookUrl, callbackUrl))
    found.push(fine('Another line of this server gets the webhooks; Trunkline reads them from the log'))
  else if (settings.wire && webhookUrl === '')
    found.push(fine('No webhook is set for the messaging profile; Trunkline changes that'))
  else if (webhookUrl === '')
    found.push(
      bad(
        'DEGRADED',
        'No webhook is set for the messaging profile, so messages to the number do not arrive',
        'Set wire, or enter the address of the line in the Telnyx portal.',
      ),
    )
  else
    found.push(
      fine(
        `Messages to the number go to ${hostOf(webhookUrl)}, which may answer them; ${
          settings.wire ? 'Trunkline changes that' : 'Trunkline reads them from the log of Telnyx'
        }`,
      ),
    )
  return found
}
