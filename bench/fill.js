// Millions of messages in the tables of the program, with all of its indexes, by SQL.
import pg from 'pg'
import { SPAN_MS, START, STATUSES } from './list.js'

const AT_ONCE = 100_000
const HOUR_MS = 3_600_000

/** Adds the rows `from` to `to` of `size` messages that are spread over 100 days, and the attempts of outbound ones. */
export async function fillMessages(url, { from, to, size, accountId, lines, say }) {
  const statuses = STATUSES.map((status) => `'${status}'`).join(', ')
  const startedAt = performance.now()
  // The program's own connections end a statement after 30 seconds.
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('set synchronous_commit = off')
  for (let low = from; low < to; low += AT_ONCE) {
    const high = Math.min(low + AT_ONCE, to) - 1
    await client.query(
      `insert into messages (handle, account_id, line_id, line_number, contact, is_outbound, type, status, service,
         content, media_url, send_style, opted_out, error_code, error_message, error_reason, created_at, updated_at,
         sent_at, attempts, version)
       select 'bench-' || lpad(i::text, 12, '0'), $1, l[1 + (i % 3 = 0)::int], n[1 + (i % 3 = 0)::int],
         '+1' || (303 + i / 1800000) || lpad((2000000 + ((i / 20) % 90000) * 71)::text, 7, '0'),
         (s <> 'RECEIVED')::int, 'message', s, 'iMessage',
         'Message ' || i || ' of usual length, as people write them.', '', '', 0,
         case when s = 'ERROR' then 10001 end, case when s = 'ERROR' then 'failed' end,
         case when s = 'ERROR' then 'refused' end, at, at + 5, at + 2, 1, 0
       from (select i, (array[${statuses}])[1 + i % ${STATUSES.length}] as s,
               ${START} + (i * ${SPAN_MS}::bigint) / ${size} as at, array[$2, $3] as l, array[$4, $5] as n
             from generate_series($6::bigint, $7::bigint) i) t`,
      [accountId, lines[0].id, lines[1].id, lines[0].number, lines[1].number, low, high],
    )
    await client.query(
      `insert into attempts (ref, message_id, n, line_id, epoch, service, state, wire_at, ended_at, provider_id, lookups)
       select handle || '-1', id, 1, line_id, 1, service, 'accepted', sent_at, sent_at, 'p-' || handle, 0
       from messages where handle between $1 and $2 and is_outbound = 1`,
      [handle(low), handle(high)],
    )
    if ((low - from) % 500_000 === 0 && size > 100_000)
      say(`retention: ${low} of ${size} rows after ${Math.round((performance.now() - startedAt) / 1000)} s`)
  }
  await client.query('delete from message_counts where account_id = $1', [accountId])
  const columns = 'account_id, line_id, is_outbound, status, service, type'
  const series = ['created', 'updated', 'sent'].flatMap((field) =>
    [HOUR_MS, 24 * HOUR_MS].map((width) => [field, width, `${field}_at / ${width} * ${width}`]),
  )
  for (const [name, width, bucket] of [['all', 0, '0'], ...series])
    await client.query(
      `insert into message_counts (series, width, bucket, ${columns}, n)
       select '${name}', ${width}, ${bucket}, ${columns}, count(*) from messages where account_id = $1
       group by ${bucket === '0' ? columns : `${bucket}, ${columns}`}`,
      [accountId],
    )
  await client.query('analyze')
  await client.end()
}

const handle = (i) => `bench-${String(i).padStart(12, '0')}`
