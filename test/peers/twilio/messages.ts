import { randomBytes } from 'node:crypto'

/** The messages of a fake Twilio account: the table behind the API, and the network that moves them on. */

export type MessageStatus =
  | 'accepted'
  | 'queued'
  | 'sending'
  | 'sent'
  | 'delivered'
  | 'undelivered'
  | 'failed'
  | 'read'
  | 'canceled'
  | 'received'

export interface StoredMessage {
  sid: string
  direction: 'inbound' | 'outbound-api'
  from: string
  to: string
  body: string
  service: string | null
  status: MessageStatus
  errorCode: number | null
  createdAt: number
  /** Null while the message waits. */
  sentAt: number | null
  files: { sid: string; contentType: string; bytes: Buffer }[]
  mediaUrls: string[]
  callback: string
}

export const newSid = (prefix: string) => prefix + randomBytes(16).toString('hex')

export function createMessages(now: () => number) {
  const rows: StoredMessage[] = []
  /** Index of new rows that the list does not show yet. */
  let hidden = Number.POSITIVE_INFINITY

  const whole = (at: number) => Math.floor(at / 1000) * 1000
  const rfc2822 = (at: number | null) =>
    at === null ? null : new Date(at).toUTCString().replace('GMT', '+0000')
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

  return {
    rows,
    add(
      fields: Pick<StoredMessage, 'direction' | 'from' | 'to' | 'body'> & Partial<StoredMessage>,
    ): StoredMessage {
      const files = fields.files ?? []
      const mediaUrls = fields.mediaUrls ?? []
      const isInbound = fields.direction === 'inbound'
      const row: StoredMessage = {
        sid: newSid(files.length + mediaUrls.length > 0 ? 'MM' : 'SM'),
        service: null,
        status: isInbound ? 'received' : 'queued',
        errorCode: null,
        createdAt: whole(now()),
        sentAt: isInbound ? whole(fields.createdAt ?? now()) : null,
        callback: '',
        ...fields,
        files,
        mediaUrls,
      }
      rows.push(row)
      return row
    },
    find: (sid: string) => rows.find((row) => row.sid === sid),
    /** New messages do not show in the list until `show`, as after a lagging replica. */
    hide() {
      hidden = rows.length
    },
    show() {
      hidden = Number.POSITIVE_INFINITY
    },
    shown: (row: StoredMessage, account: string) => ({
      account_sid: account,
      api_version: '2010-04-01',
      body: row.body,
      date_created: rfc2822(row.createdAt),
      date_sent: rfc2822(row.sentAt),
      date_updated: rfc2822(row.createdAt),
      direction: row.direction,
      error_code: row.errorCode,
      error_message: null,
      from: row.from,
      messaging_service_sid: row.service,
      // Files of a message that waits are not fetched yet.
      num_media: String(row.files.length || (row.sentAt === null ? 0 : row.mediaUrls.length)),
      num_segments: '1',
      price: null,
      price_unit: 'USD',
      sid: row.sid,
      status: row.status,
      subresource_uris: { media: `/2010-04-01/Accounts/${account}/Messages/${row.sid}/Media.json` },
      to: row.to,
      uri: `/2010-04-01/Accounts/${account}/Messages/${row.sid}.json`,
    }),
    /** Newest first. Days are those of Greenwich; a message that waits has none. */
    list(query: URLSearchParams): { page: StoredMessage[]; next: string | null } {
      const [to, from, day, least, most] = ['To', 'From', 'DateSent', 'DateSent>', 'DateSent<'].map((name) =>
        query.get(name),
      )
      const found = rows
        .filter((row, i) => {
          if (i >= hidden || (to && row.to !== to) || (from && row.from !== from)) return false
          if (!day && !least && !most) return true
          const sent = row.sentAt === null ? '' : dayOf(row.sentAt)
          return sent !== '' && (!day || sent === day) && (!least || sent >= least) && (!most || sent <= most)
        })
        .reverse()
      const size = Math.min(1000, Number(query.get('PageSize') ?? 50))
      const token = query.get('PageToken')
      const start = token ? found.findIndex((row) => `PA${row.sid}` === token) + 1 : 0
      const page = found.slice(start, start + size)
      const next = start + size < found.length ? `PA${page.at(-1)!.sid}` : null
      return { page, next }
    },
  }
}
