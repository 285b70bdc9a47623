import type { Line } from '../../core/lines/line.js'
import { type Health, watchHealth } from '../../core/lines/watch-health.js'
import type { DriverHost } from '../host.js'
import { type Api, troubleOf } from './api.js'
import { type Examined, examine } from './examine.js'
import { wire } from './profile.js'
import { wireAgent } from './rcs/agent.js'
import type { Wiring } from './sweep.js'
import { hasOwnCalls, takesCalls, wireCalls } from './voice/application.js'

/** Reports the line's state. With the setting `wire` it also points the webhooks of the number at this server. */
export function createHealth(
  api: Api,
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'state' | 'clock' | 'log'>,
  callbackUrl: () => string,
  onReturn: () => void,
): Health & { wiring(): Wiring } {
  let seen: Examined = { found: [] }
  let isOurs = false
  let profileId = api.settings.messaging_profile_id
  let hasCalls = false
  /** Whether messages to the RCS agent come to this line. */
  let hasAgent = api.settings.rcs_agent_id === undefined
  const health = watchHealth(host, {
    everyMs: 300_000,
    async look() {
      const url = callbackUrl()
      seen = await examine(api, line, url)
      // A profile that could not be read goes on as before.
      profileId = seen.profile?.id ?? profileId
      if (seen.profile) isOurs = url !== '' && seen.profile.webhookUrl === url
      if (seen.agent) hasAgent = url !== '' && seen.agent.webhookUrl === url
      if (seen.voice) hasCalls = takesCalls(api, seen.voice, url) && hasOwnCalls(seen.voice, url)
      return seen.found
    },
    async onReturn() {
      const url = callbackUrl()
      if (api.settings.wire && seen.profile && url)
        isOurs = await wire(api, seen.profile, url).catch((error) => {
          host.log.warn(troubleOf(error), 'could not set the webhook of the messaging profile')
          return isOurs
        })
      if (api.settings.wire && seen.voice && url)
        await wireCalls(api, seen.voice, url).then(
          (isWired) => {
            hasCalls = isWired
          },
          (error) => host.log.warn(troubleOf(error), 'could not set the webhook for calls'),
        )
      const { wire: isWiring, rcs_agent_id: agentId } = api.settings
      if (isWiring && agentId && seen.agent && url)
        hasAgent = await wireAgent(api, agentId, seen.agent, url).catch((error) => {
          host.log.warn(troubleOf(error), 'could not set the webhook of the RCS agent')
          return hasAgent
        })
      onReturn()
    },
    complain: (error) => host.log.warn(troubleOf(error), 'could not look at the number at Telnyx'),
  })
  return { ...health, wiring: () => ({ profileId, isOurs: isOurs && hasAgent, hasCalls }) }
}
