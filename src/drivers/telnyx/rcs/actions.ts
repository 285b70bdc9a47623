import { LineFault } from '../../../core/lines/fault.js'
import { NoAnswer } from '../../../core/lines/no-answer.js'
import type { LineActions } from '../../contract.js'
import type { Api, ApiAnswer } from '../api.js'
import { wordsOf } from '../codes.js'
import type { IsOnRcs } from './reach.js'
import { rcsBody } from './send.js'

type Actions = Pick<LineActions, 'availability' | 'setTyping' | 'markRead'>

/** Actions of a line with an RCS agent. `eventUrl` is where Telnyx reports about them, which tells nothing of use. */
export function rcsActions(
  api: Api,
  agentId: string,
  profileId: () => string | undefined,
  eventUrl: () => string,
  isOnRcs: IsOnRcs,
): Actions {
  async function tell(to: string, event: 'IS_TYPING' | 'READ'): Promise<void> {
    if (!(await isOnRcs(to).catch(() => true))) throw new LineFault('refused', `${to} is not on RCS`)
    const profile = profileId()
    if (!profile) throw new LineFault('unreachable', 'The messaging profile is not known yet')
    const body = rcsBody(agentId, profile, to, { event: { event_type: event } })
    const url = eventUrl()
    const answer = await api
      .post('/messages/rcs', { ...body, ...(url ? { webhook_url: url } : {}) })
      .catch((error) => {
        if (!(error instanceof NoAnswer)) throw error
        throw new LineFault('unreachable', `Telnyx does not answer: ${error.message}`)
      })
    if (answer.status >= 300) throw faultOf(answer)
  }

  return {
    availability: async ({ number }) => ((await isOnRcs(number)) ? ['RCS', 'SMS'] : ['SMS']),
    // RCS has no event for the end of typing: phones hide it after some seconds.
    async setTyping({ to, typing }) {
      if (typing) await tell(to, 'IS_TYPING')
    },
    markRead: ({ to }) => tell(to, 'READ'),
  }
}

function faultOf({ status, code, fault }: ApiAnswer): LineFault {
  const isRefused = status >= 400 && status < 500 && status !== 429 && status !== 401
  return new LineFault(isRefused ? 'refused' : 'unreachable', wordsOf(code, fault))
}
