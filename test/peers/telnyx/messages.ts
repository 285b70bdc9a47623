import { randomUUID } from 'node:crypto'

/** The messages of a fake Telnyx account, and what its lists show of them. */

export type MessageStatus =
  | 'queued'
  | 'sending'
  | 'sent'
  | 'delivered'
  | 'sending_failed'
  | 'delivery_failed'
  | 'delivery_unconfirmed'
  | 'expired'
  | 'cancelled'
  | 'read'
  | 'webhook_delivered'

export interface StoredMessage {
  id: string
  direction: 'inbound' | 'outbound'
  from: string
  to: string[]
  /** Further recipients of an inbound group message. */
  cc: string[]
  text: string
  status: MessageStatus
  errorCode: number | null
  createdAt: number
  media: { url: string; content_type: string }[]
  webhookUrl: string | null
  useProfile: boolean
  idempotencyKey: string
  /** The service that carries the message now. */
  type: 'SMS' | 'MMS' | 'RCS'
  /** The content of a message by RCS, in either direction. */
  body: object | null
}

/** An agent has no phone number. */
function addressOf(one: string): object {
  return one.startsWith('+')
    ? { phone_number: one, carrier: '', line_type: '' }
    : { agent_id: one, agent_name: 'Shop', carrier: '' }
}

export function createMessages(now: () => number, profileId: string) {
  const rows: StoredMessage[] = []
  const iso = (at: number) => new Date(at).toISOString()
  const dayOf = (at: number) => Math.floor(at / 86_400_000)

  return {
    rows,
    add(
      fields: Pick<StoredMessage, 'direction' | 'from' | 'to' | 'text'> & Partial<StoredMessage>,
    ): StoredMessage {
      const row: StoredMessage = {
        id: randomUUID(),
        status: fields.direction === 'inbound' ? 'webhook_delivered' : 'queued',
        errorCode: null,
        createdAt: now(),
        media: [],
        cc: [],
        webhookUrl: null,
        useProfile: true,
        idempotencyKey: '',
        type: (fields.media?.length ?? 0) > 0 ? 'MMS' : 'SMS',
        body: null,
        ...fields,
      }
      rows.push(row)
      return row
    },
    find: (id: string) => rows.find((row) => row.id === id),
    /** The message as the API and webhooks show it. */
    shown: (row: StoredMessage) => ({
      id: row.id,
      record_type: 'message',
      direction: row.direction,
      type: row.type,
      messaging_profile_id: profileId,
      from: addressOf(row.from),
      to: row.to.map((one) => ({ ...addressOf(one), status: row.status })),
      cc: row.cc.map((phone_number) => ({ phone_number, status: 'webhook_delivered' })),
      ...(row.body ? { body: row.body } : { text: row.text }),
      media: row.media,
      webhook_url: row.webhookUrl,
      webhook_failover_url: null,
      encoding: 'GSM-7',
      parts: 1,
      tags: [],
      cost: null,
      wait_seconds: 0,
      received_at: iso(row.createdAt),
      sent_at: null,
      completed_at: null,
      valid_until: null,
      errors: row.errorCode === null ? [] : [{ code: String(row.errorCode), title: 'Injected' }],
    }),
    /** Messages that wait in the queue have no record. */
    records(query: URLSearchParams): object[] {
      const range = query.get('filter[date_range]') ?? ''
      const days = range === 'today' ? 1 : Number(/^last_(\d+)_days$/.exec(range)?.[1] ?? 0)
      return rows
        .filter(({ status, to, from, createdAt }) => {
          if (status === 'queued' || status === 'sending') return false
          if (from !== query.get('filter[cli]') || !to.includes(query.get('filter[cld]') ?? '')) return false
          const age = dayOf(now()) - dayOf(createdAt)
          return range === 'today' ? age === 0 : age >= 1 && age <= days
        })
        .map((row) => ({
          record_type: 'message_detail_record',
          uuid: row.id,
          cld: query.get('filter[cld]'),
          cli: row.from,
          direction: row.direction,
          created_at: iso(row.createdAt),
          delivery_status_webhook_url: row.webhookUrl,
          status: row.status === 'delivered' ? 'delivered' : 'dlr_unconfirmed',
          profile_id: profileId,
        }))
        .reverse()
    },
  }
}
