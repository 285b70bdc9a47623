import type { Asked, Reply } from '../carrier-server.js'
import type { createMessages, StoredMessage } from './messages.js'

interface Options {
  number: string
  profileId: string
  messages: ReturnType<typeof createMessages>
  failure(status: number, code: number, detail: string): Reply
  /** The error number of a refusal that a test asked for. */
  refusal(): number | undefined
  proceed(row: StoredMessage): void
}

interface RcsBody {
  agent_id?: string
  messaging_profile_id?: string
  to?: string
  type?: string
  agent_message?: {
    content_message?: {
      text?: string
      content_info?: { file_url: string }
      rich_card?: { carousel_card?: { card_contents: { media: { content_info: { file_url: string } } }[] } }
    }
    event?: { event_type: string }
  }
  sms_fallback?: { from: string; text: string }
  mms_fallback?: { from: string; text?: string; media_urls: string[] }
  webhook_url?: string
}

/** An RCS agent of a fake Telnyx: it falls back to SMS or MMS itself, within the message. */
export function createRcs({ number, profileId, messages, failure, refusal, proceed }: Options) {
  const agent = {
    agent_id: 'Agent007',
    enabled: true,
    profile_id: profileId,
    webhook_url: null as string | null,
  }
  /** Phones with RCS. */
  const phones = new Set<string>()
  const events: { to: string; type: string }[] = []

  function isRight({ type, agent_message: { content_message: content, event } = {}, ...rest }: RcsBody) {
    const kinds = [content?.text, content?.content_info, content?.rich_card, event].filter(Boolean)
    const cards = content?.rich_card?.carousel_card?.card_contents
    return (
      type === 'RCS' &&
      rest.agent_id === agent.agent_id &&
      rest.messaging_profile_id === profileId &&
      kinds.length === 1 &&
      (content?.text ?? '').length <= 3072 &&
      (!cards || (cards.length >= 2 && cards.length <= 10)) &&
      [rest.sms_fallback, rest.mms_fallback].every((one) => !one || one.from === number)
    )
  }

  function send({ body, headers }: Asked): Reply {
    const given: RcsBody = JSON.parse(body)
    const code = refusal() ?? (isRight(given) ? undefined : 10015)
    if (code) return failure(code === 10011 ? 429 : 400, code, 'Refused')
    const to = given.to!
    const { content_message: content, event } = given.agent_message!
    if (event) {
      events.push({ to, type: event.event_type })
      return [200, { data: { id: `event-${events.length}-of-agent`, direction: 'outbound', type: 'RCS' } }]
    }
    const { sms_fallback: sms, mms_fallback: mms } = given
    const instead = phones.has(to) ? undefined : (sms ?? mms)
    const row = messages.add({
      direction: 'outbound',
      from: instead ? number : agent.agent_id,
      to: [to],
      text: content?.text ?? sms?.text ?? mms?.text ?? '',
      body: { content_message: content },
      type: 'RCS',
      webhookUrl: given.webhook_url ?? null,
      useProfile: false,
      idempotencyKey: String(headers['idempotency-key'] ?? ''),
    })
    const answer: Reply = [200, { data: messages.shown(row) }]
    if (instead) Object.assign(row, { type: mms ? 'MMS' : 'SMS', body: null })
    proceed(row)
    return answer
  }

  const routes: Record<string, (asked: Asked) => Reply> = {
    'POST /messages/rcs': send,
    'GET /messaging/rcs/capabilities': ({ path }) => {
      const phone = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))
      const features = phones.has(phone) ? ['RICHCARD_STANDALONE', 'ACTION_DIAL'] : []
      return [200, { data: { agent_id: agent.agent_id, phone_number: phone, features } }]
    },
    'GET /messaging/rcs/agents': () => [200, { data: agent }],
    'PATCH /messaging/rcs/agents': ({ body }) => {
      Object.assign(agent, JSON.parse(body))
      return [200, { data: agent }]
    },
  }
  return { agent, phones, events, routes }
}
