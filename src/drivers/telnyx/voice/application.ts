import { parseUrl } from '../../../base/parse-url.js'
import { fieldsOf, listOf, textOf } from '../../../core/fields.js'
import { type Api, ApiFault } from '../api.js'
import { isOfThisServer, WEBHOOK_VERSION } from '../profile.js'
import { idOf } from '../statuses.js'

/** The application at Telnyx that takes calls to the number. */
export interface Application {
  id: string
  name: string
  url: string
  version: string
  isActive: boolean
  /** Whether the application may call phones. */
  canDial: boolean
}

/** Where calls to the number go. */
export interface VoiceSettings {
  /** Whether a connection takes the calls; without an application, it is of another kind. */
  isConnected: boolean
  application: Application | undefined
  /** Telnyx itself forwards every call. */
  isForwarded: boolean
}

/** Reads where calls to the number go; undefined if the API key may not, or if Telnyx does not tell. */
export async function readVoice(api: Api, number: string): Promise<VoiceSettings | undefined> {
  // The filter finds nothing if it has other signs than digits.
  const query = new URLSearchParams({ 'filter[phone_number]': number.slice(1) })
  const { status, json } = await api.get(`/phone_numbers/voice?${query}`)
  const rows = listOf(fieldsOf(json).data).map(fieldsOf)
  const row = rows.find(({ phone_number }) => phone_number === number)
  if (status !== 200 || !row) return undefined
  const forwarding = fieldsOf(row.call_forwarding)
  const id = idOf(row.connection_id)
  return {
    isConnected: id !== undefined,
    application: id === undefined ? undefined : await applicationOf(api, id),
    isForwarded:
      forwarding.call_forwarding_enabled === true &&
      forwarding.forwarding_type === 'always' &&
      textOf(forwarding.forwards_to) !== '',
  }
}

async function applicationOf(api: Api, id: string): Promise<Application | undefined> {
  const answer = await api.get(`/call_control_applications/${id}`)
  const { data } = fieldsOf(answer.json)
  if (answer.status !== 200 || fieldsOf(data) !== data) return undefined
  const row = fieldsOf(data)
  return {
    id,
    name: textOf(row.application_name),
    url: textOf(row.webhook_event_url),
    version: textOf(row.webhook_api_version),
    isActive: row.active !== false,
    canDial: textOf(fieldsOf(row.outbound).outbound_voice_profile_id) !== '',
  }
}

/** Whether calls to the number are meant for this line: its path has a secret, whatever address the server had. */
export function hasOwnCalls({ application, isForwarded }: VoiceSettings, url: string): boolean {
  const path = url === '' ? undefined : parseUrl(url)?.pathname
  return path !== undefined && !isForwarded && parseUrl(application?.url ?? '')?.pathname === path
}

/** Whether Trunkline takes the calls to the number: those that go nowhere else, or all if the settings say so. */
export function takesCalls({ settings }: Pick<Api, 'settings'>, voice: VoiceSettings, url: string): boolean {
  const { application, isForwarded } = voice
  if (!application || isForwarded || settings.voice === false || !settings.public_key) return false
  if (hasOwnCalls(voice, url) || application.url === '') return true
  return settings.voice === true && !isOfThisServer(application.url, url)
}

/** Lets calls to the number come to this server; returns whether they do. */
export async function wireCalls(api: Api, voice: VoiceSettings, url: string): Promise<boolean> {
  const { application } = voice
  if (!application || !takesCalls(api, voice, url)) return false
  if (application.url === url && application.version === WEBHOOK_VERSION) return true
  const answer = await api.patch(`/call_control_applications/${application.id}`, {
    application_name: application.name,
    webhook_event_url: url,
    webhook_api_version: WEBHOOK_VERSION,
  })
  if (answer.status !== 200) throw new ApiFault(answer)
  return true
}
