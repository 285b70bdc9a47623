import type { Args } from '../args.js'
import { ApiError, type Call } from '../client.js'
import { followFeed, positionNow } from '../webhooks/feed.js'

type Row = Record<string, unknown>

/**
 * Rows from `since` on and before `until`; without it, all rows that there are at the start. Times are ISO 8601 in UTC
 * with milliseconds, which sort as text. They are the server's: the clock of this machine may differ.
 */
type Pages = (
  call: Call,
  args: Args,
  since: string | undefined,
  until: string | undefined,
) => AsyncGenerator<Row[]>

const LIMIT = 1000
/** The largest offset that the list of contacts accepts. */
const MAX_SKIP = 10_000

/**
 * Each page begins at the time of the last row and skips the rows of that time that were already read. Only an empty
 * page is the end: a server may give fewer rows than it was asked for.
 */
function byTime(path: string, time: string, rowsOf: (answer: never) => Row[]): Pages {
  return async function* pages(call, _args, since, until) {
    const newest = new URLSearchParams({ order_by: 'createdAt', order_direction: 'desc', limit: '1' })
    const [latest] = rowsOf(await call<never>('GET', `${path}?${newest}`))
    if (!latest) return
    const isOver = (row: Row) => (until === undefined ? row[time]! > latest[time]! : row[time]! >= until)
    const query = new URLSearchParams({ order_by: 'createdAt', order_direction: 'asc', limit: `${LIMIT}` })
    for (let from = since, skip = 0; skip <= MAX_SKIP; ) {
      if (from !== undefined) query.set('created_at_gte', from)
      query.set('offset', String(skip))
      const page = rowsOf(await call<never>('GET', `${path}?${query}`))
      const rows = page.filter((row) => !isOver(row))
      yield rows
      if (rows.length === 0 || rows.length < page.length) return
      const last = String(rows.at(-1)![time])
      skip = rows.filter((row) => row[time] === last).length + (last === from ? skip : 0)
      from = last
    }
    throw new ApiError(`More than ${MAX_SKIP} rows have the same time: the export cannot continue.`)
  }
}

const deliveryPages: Pages = async function* (call, _args, since, until) {
  const query = new URLSearchParams({ limit: `${LIMIT}` })
  if (until !== undefined) query.set('created_at_lt', until)
  if (since !== undefined) query.set('created_at_gte', since)
  for (let cursor: string | null = ''; cursor !== null; ) {
    if (cursor !== '') query.set('cursor', cursor)
    const answer = await call('GET', `/v3/webhook-deliveries?${query}`)
    const page = answer as { data: Row[]; next_cursor: string | null }
    yield page.data
    cursor = page.next_cursor
  }
}

/** The event log up to its present end. `since` may also be the sequence number of an event. */
const eventPages: Pages = async function* (_call, args, since = '0', until) {
  const controller = new AbortController()
  const { signal } = controller
  const path = `/api/v2/events?types=all&since=${encodeURIComponent(since)}`
  try {
    const end = await positionNow(args, signal)
    for await (const { id, event } of followFeed(args, { path, after: undefined, signal })) {
      const row = event && ({ sequence: id, ...JSON.parse(event.data) } as Row)
      const isPastEnd =
        id > end || (row !== undefined && until !== undefined && String(row.occurred_at) >= until)
      if (row && !isPastEnd) yield [row]
      if (isPastEnd || id === end) return
    }
  } finally {
    controller.abort()
  }
}

export const SOURCES: Readonly<Record<string, { columns: string; pages: Pages }>> = {
  messages: {
    columns: `message_handle date_created date_sent date_updated is_outbound status service from_number to_number
      number sendblue_number group_id message_type content media_url send_style was_downgraded opted_out error_code
      error_message error_reason error_detail seat_id sender_email`,
    pages: byTime('/api/v2/messages', 'date_created', ({ data }: { data: Row[] }) => data),
  },
  contacts: {
    columns: `contact_id phone first_name last_name company_name assigned_to_email sendblue_number tags
      custom_variables verified opt_out created_at updated_at`,
    pages: byTime('/api/v2/contacts', 'created_at', (answer: Row[]) => answer),
  },
  events: { columns: 'sequence id type occurred_at data', pages: eventPages },
  deliveries: {
    columns: `id webhook_id sequence event_type type url subject status attempts http_status reason created_at
      next_attempt_at finished_at`,
    pages: deliveryPages,
  },
}
