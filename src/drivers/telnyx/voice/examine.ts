import { bad, fine, type Observation } from '../../../core/lines/observation.js'
import { hostOf } from '../../../core/lines/reach.js'
import type { Api } from '../api.js'
import { isOfThisServer, WEBHOOK_VERSION } from '../profile.js'
import { type Application, takesCalls, type VoiceSettings } from './application.js'

/** Where calls to the number go. Trunkline hears only of calls that come to it. */
export function callsOf(api: Api, voice: VoiceSettings | undefined, callbackUrl: string): Observation[] {
  const { voice: isAsked, wire, public_key: publicKey } = api.settings
  /** A reason why no call comes here: a fault only if the settings ask for calls. */
  const missing = (what: string, advice: string) =>
    isAsked ? bad('DEGRADED', what, advice) : fine(`${what}; Trunkline takes no calls`)
  if (isAsked === false) return []
  if (!publicKey) return isAsked ? [missing('Calls need the public key', 'Give public_key.')] : []
  if (!voice)
    return [missing('The voice settings of the number cannot be read', 'Check the rights of the API key.')]
  if (voice.isForwarded)
    return [
      missing('Telnyx itself forwards calls to the number', 'Turn call forwarding off in the Telnyx portal.'),
    ]
  const { application, isConnected } = voice
  const assign = 'Assign a Voice API application to the number in the Telnyx portal.'
  if (!isConnected) return [missing('No application takes calls to the number', assign)]
  if (!application)
    return [missing('Calls to the number go to a connection that is no Voice API application', assign)]
  if (application.url !== '' && application.url === callbackUrl) return faultsOf(application)
  if (isOfThisServer(application.url, callbackUrl) && !takesCalls(api, voice, callbackUrl))
    return [
      missing('Calls to the number go to another line of this server', 'Use an application for each line.'),
    ]
  const where =
    application.url === ''
      ? 'No webhook is set for calls to the number'
      : `Calls to the number go to ${hostOf(application.url)}`
  return wire && takesCalls(api, voice, callbackUrl)
    ? [fine(`${where}; Trunkline changes that`), ...faultsOf({ ...application, version: WEBHOOK_VERSION })]
    : [fine(`${where}; Trunkline does not hear of them`)]
}

/** What keeps an application from forwarding calls. */
function faultsOf({ version, isActive, canDial }: Application): Observation[] {
  const found: Observation[] = []
  if (!isActive)
    found.push(bad('DEGRADED', 'The application for calls is not active', 'Activate it at Telnyx.'))
  if (version !== WEBHOOK_VERSION)
    found.push(
      bad('DEGRADED', 'The application for calls does not use API version 2', 'Change that at Telnyx.'),
    )
  if (!canDial)
    found.push(
      bad(
        'DEGRADED',
        'The application for calls has no outbound voice profile, so calls cannot be forwarded',
        'Assign one in the Telnyx portal.',
      ),
    )
  return found
}
