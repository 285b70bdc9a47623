import { ApiError, type Call } from '../client.js'
import type { Args } from '../command.js'
import { followFeed, positionNow } from '../webhooks/feed.js'

/** Rows of an export, and where to go on after them. */
export interface Page {
  rows: Record<string, unknown>[]
  cursor: string
}

export interface Range {
  /** ISO 8601. */
  since: string | undefined
  until: string
  /** Where an export before this one has come to. */
  after: string | undefined
}

export interface Source {
  columns: readonly string[]
  pages(call: Call, args: Args, range: Range): AsyncGenerator<Page>
}

const LIMIT = 1000
/** Rows of one millisecond that a list lets be skipped. */
const MAX_SKIP = 10_000

/**
 * Lists that are in the order of their times. The cursor is the time of the last row and how many rows of that
 * time there were: new rows come behind it, so nothing is missed and nothing comes twice.
 */
function byTime(
  path: string,
  timeField: string,
  rowsOf: (answer: never) => Record<string, unknown>[],
): Source['pages'] {
  return async function* pages(call, _args, { since, until, after }) {
    const [, time, count] = /^([^,]+),(\d+)$/.exec(after ?? '') ?? []
    if (after !== undefined && (time === undefined || Number.isNaN(Date.parse(time)))) throw noCursor(after)
    let place = { time: time ?? since, skip: Number(count ?? 0) }
    for (;;) {
      const query = new URLSearchParams({
        order_by: 'createdAt',
        order_direction: 'asc',
        limit: String(LIMIT),
        offset: String(place.skip),
        ...(place.time === undefined ? {} : { created_at_gte: place.time }),
      })
      const all = rowsOf((await call('GET', `${path}?${query}`)) as never)
      const rows = all.filter((row) => Date.parse(String(row[timeField])) < Date.parse(until))
      if (rows.length > 0) {
        const last = String(rows.at(-1)![timeField])
        const same = rows.filter((row) => row[timeField] === last).length
        place = { time: last, skip: same + (last === place.time ? place.skip : 0) }
        if (place.skip > MAX_SKIP) throw new ApiError(`More than ${MAX_SKIP} rows are of ${last}.`)
        yield { rows, cursor: `${place.time},${place.skip}` }
      }
      if (all.length < LIMIT || rows.length < all.length) return
    }
  }
}

async function* deliveryPages(call: Call, _args: Args, { since, until, after }: Range): AsyncGenerator<Page> {
  // The end of an export that was cut off after its last page.
  if (after === '') return
  for (let cursor: string | undefined = after; ; ) {
    const query = new URLSearchParams({ limit: String(LIMIT), created_at_lt: until })
    if (since !== undefined) query.set('created_at_gte', since)
    if (cursor !== undefined) query.set('cursor', cursor)
    const answer = (await call('GET', `/v3/webhook-deliveries?${query}`)) as {
      data: Record<string, unknown>[]
      next_cursor: string | null
    }
    if (answer.next_cursor === null) {
      if (answer.data.length > 0) yield { rows: answer.data, cursor: '' }
      return
    }
    cursor = answer.next_cursor
    yield { rows: answer.data, cursor }
  }
}

/** The log, up to where it ends now. */
async function* eventPages(_call: Call, args: Args, { since, until, after }: Range): AsyncGenerator<Page> {
  if (after !== undefined && !/^\d{1,15}$/.test(after)) throw noCursor(after)
  const controller = new AbortController()
  const { signal } = controller
  const end = await positionNow(args, signal)
  const from = after === undefined ? `&since=${encodeURIComponent(since ?? '0')}` : ''
  const start = after === undefined ? undefined : Number(after)
  let rows: Record<string, unknown>[] = []
  let last = start ?? 0
  try {
    for await (const { id, event } of followFeed(args, {
      path: `/api/v2/events?types=all${from}`,
      after: start,
      signal,
    })) {
      const row = event && ({ sequence: id, ...JSON.parse(event.data) } as Record<string, unknown>)
      const isLate = row !== undefined && Date.parse(String(row.occurred_at)) >= Date.parse(until)
      if (row && !isLate && id <= end) {
        rows.push(row)
        last = id
      }
      const isOver = isLate || id >= end
      if (rows.length > 0 && (isOver || rows.length >= LIMIT)) {
        yield { rows, cursor: String(last) }
        rows = []
      }
      if (isOver) return
    }
  } finally {
    controller.abort()
  }
}

function noCursor(after: string): ApiError {
  return new ApiError(`"${after}" is not where an export of this kind has ended`)
}

const MESSAGE_COLUMNS = [
  'message_handle',
  'date_created',
  'date_sent',
  'date_updated',
  'is_outbound',
  'status',
  'service',
  'from_number',
  'to_number',
  'number',
  'sendblue_number',
  'group_id',
  'message_type',
  'content',
  'media_url',
  'send_style',
  'was_downgraded',
  'opted_out',
  'error_code',
  'error_message',
  'error_reason',
  'error_detail',
  'seat_id',
  'sender_email',
]

export const SOURCES: Readonly<Record<string, Source>> = {
  messages: {
    columns: MESSAGE_COLUMNS,
    pages: byTime(
      '/api/v2/messages',
      'date_created',
      ({ data }: { data: Record<string, unknown>[] }) => data,
    ),
  },
  contacts: {
    columns: [
      'contact_id',
      'phone',
      'first_name',
      'last_name',
      'company_name',
      'assigned_to_email',
      'sendblue_number',
      'tags',
      'custom_variables',
      'verified',
      'opt_out',
      'created_at',
      'updated_at',
    ],
    pages: byTime('/api/v2/contacts', 'created_at', (answer: Record<string, unknown>[]) => answer),
  },
  events: { columns: ['sequence', 'id', 'type', 'occurred_at', 'data'], pages: eventPages },
  deliveries: {
    columns: [
      'id',
      'webhook_id',
      'sequence',
      'event_type',
      'type',
      'url',
      'subject',
      'status',
      'attempts',
      'http_status',
      'reason',
      'created_at',
      'next_attempt_at',
      'finished_at',
    ],
    pages: deliveryPages,
  },
}
