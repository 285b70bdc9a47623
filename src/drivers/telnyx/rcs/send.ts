import type { SendResult } from '../../../core/messages/outcome.js'
import type { Outbound } from '../../contract.js'
import type { Api } from '../api.js'
import { submit } from '../send.js'
import { contentFault, contentOf, fallbackOf } from './content.js'
import type { IsOnRcs } from './reach.js'

/** Who sends, and where Telnyx reports. */
export interface RcsSender {
  agentId: string
  /** The line's number, which sends what RCS does not reach. */
  number: string
  /** Undefined until it is known. */
  profileId: string | undefined
  webhookUrl: string
}

/**
 * Sends one message by RCS. Telnyx itself falls back to SMS or MMS within the same message, so that nothing is sent twice.
 */
export async function sendRcs(
  api: Api,
  message: Outbound,
  { agentId, number, profileId, webhookUrl }: RcsSender,
  isOnRcs: IsOnRcs,
): Promise<SendResult> {
  const fault = contentFault(message)
  if (fault) return { outcome: 'refused', ...fault }
  if (!profileId)
    return { outcome: 'never-left', code: 'profile', detail: 'The messaging profile is not known yet' }
  // Without an answer the carousel goes out, and Telnyx says whether it arrived.
  if (message.extra?.mediaUrls && !(await isOnRcs(message.to).catch(() => true)))
    return {
      outcome: 'refused',
      code: 'not_rcs',
      detail: 'The recipient is not on RCS',
      tryNextService: true,
    }
  return submit(api, '/messages/rcs', message.ref, {
    ...rcsBody(agentId, profileId, message.to, { content_message: contentOf(message) }),
    ...fallbackOf(message, number),
    ...(webhookUrl ? { webhook_url: webhookUrl } : {}),
  })
}

export function rcsBody(agentId: string, profileId: string, to: string, agentMessage: object): object {
  return {
    type: 'RCS',
    agent_id: agentId,
    messaging_profile_id: profileId,
    to,
    agent_message: agentMessage,
  }
}
