import { webhookIdOf } from '../../src/core/webhooks/webhook.js'
import type { Db } from '../../src/storage/engine/db.js'
import { listIncarnations } from '../../src/storage/engine/incarnations.js'
import type { SmscCarrier } from '../faults/carriers/smsc-carrier.js'
import { outOfOrder } from '../faults/webhook-ledger.js'
import type { Sink } from '../support/web/sink.js'
import type { Clients } from './clients.js'
import { misread, type StreamReader } from './readers.js'

/** What was seen outside the service. */
export interface Evidence {
  carrier: SmscCarrier
  sink: Sink
  clients: Clients
  /** Texts that the carrier brought, and whether we acknowledged them. */
  brought: Map<string, boolean>
  readers: StreamReader[]
}

/** Things that are still on their way, by kind. */
export async function countOpen(db: Db, evidence: Evidence): Promise<Record<string, number>> {
  const { carrier, brought, readers } = evidence
  // Before the database is read: receipts that arrive now make events and webhooks.
  const receipts = await carrier.report()
  const row = await db.one<Record<string, number>>(
    `select (select count(*) from messages where next_action_at is not null) as messages,
       (select count(*) from parked_receipts) as parked,
       (select count(*) from webhook_deliveries where next_at is not null) as webhooks,
       (select count(*) from webhook_feeds f where exists
         (select from events e where e.account_id = f.account_id and e.seq > f.seq)) as feeds,
       (select max(seq) from events where account_id = (${ACCOUNT})) as last_event`,
  )
  const { last_event, ...counts } = row!
  return {
    receipts,
    texts: [...brought.values()].filter((isTaken) => !isTaken).length,
    ...counts,
    readers: readers.filter((reader) => reader.position() < last_event!).length,
  }
}

const ACCOUNT = "select id from accounts where world = 'live'"

/** The open things themselves, for a run that does not come to rest. */
export async function describeOpen(db: Db): Promise<unknown> {
  const now = Date.now()
  return {
    messages: await db.all(
      `select handle, content, status, attempts, next_action_at - $1 as due_in from messages
       where next_action_at is not null limit 5`,
      [now],
    ),
    webhooks: await db.all(
      `select event_seq, subject, tries, reason, next_at - $1 as due_in from webhook_deliveries
       where next_at is not null order by next_at limit 5`,
      [now],
    ),
    parked: await db.all('select * from parked_receipts limit 8'),
    feeds: await db.all('select * from webhook_feeds limit 5'),
    leases: await db.all('select * from line_leases limit 5'),
    nodes: await db.all('select * from nodes limit 5'),
  }
}

interface StoredMessage {
  handle: string
  content: string
  status: string
  reason: string | null
  open: boolean
  createdAt: number
}

/** Broken promises, in words. */
export async function judge(
  db: Db,
  { carrier, sink, clients, brought, readers }: Evidence,
): Promise<string[]> {
  const broken = [...clients.strange]
  const copies = new Map<string, number>()
  const shown = await db.all<{ content: string }>('select content from phone_messages where from_phone = 0')
  for (const text of [...carrier.taken(), ...shown.map(({ content }) => content)])
    copies.set(text, (copies.get(text) ?? 0) + 1)
  for (const [text, n] of copies) if (n > 1) broken.push(`${text}: ${n} times at its recipient`)

  const stored = new Map<string, StoredMessage[]>()
  for (const one of await db.all<StoredMessage>(
    `select handle, content, status, error_reason as reason, next_action_at is not null as open,
       created_at as "createdAt" from messages`,
  ))
    stored.set(one.content, [...(stored.get(one.content) ?? []), one])
  const of = (content: string) => stored.get(content) ?? []
  for (const text of clients.sent) {
    const [message, ...more] = of(text)
    if (more.length > 0) broken.push(`${text}: stored ${more.length + 1} times: ${JSON.stringify(of(text))}`)
    const handle = clients.acknowledged.get(text)
    if (handle && message?.handle !== handle) broken.push(`${text}: acknowledged as ${handle}, not stored`)
    if (!message) continue
    const isTaken = copies.has(text)
    if (isTaken !== (message.status === 'DELIVERED')) {
      const attempts = await db.all(
        'select a.* from attempts a join messages m on m.id = a.message_id where m.handle = $1 order by a.n',
        [message.handle],
      )
      broken.push(
        `${text}: ${message.status} ${message.reason}, ${isTaken ? '' : 'not '}at its recipient: ${JSON.stringify(attempts)}`,
      )
    }
  }
  for (const text of brought.keys())
    if (of(text).length !== 1) broken.push(`${text}: stored ${of(text).length} times`)
  for (const [text, isTaken] of clients.texted)
    if (of(text).length > 1 || (isTaken && of(text).length === 0))
      broken.push(`${text}: ${isTaken ? '' : 'not '}acknowledged, stored ${of(text).length} times`)
  return [...broken, ...(await judgeEvents(db, sink, readers))]
}

/** The log has no hole but where an incarnation begins, and receivers and readers heard of every event. */
async function judgeEvents(db: Db, sink: Sink, readers: StreamReader[]): Promise<string[]> {
  const broken: string[] = []
  const incarnations = await listIncarnations(db)
  const bases = new Set(incarnations.map(({ eventBase }) => eventBase))
  const events = await db.all<{ seq: number; type: string; accountId: string }>(
    `select seq, type, account_id as "accountId" from events where account_id = (${ACCOUNT}) order by seq`,
  )
  const log = events.map(({ seq }) => seq)
  for (const [i, seq] of log.entries())
    if (i > 0 && seq !== log[i - 1]! + 1 && !bases.has(seq - 1)) broken.push(`no event before ${seq}`)
  const heard = new Set(sink.received.map(({ headers }) => headers['webhook-id']))
  for (const event of events)
    if (
      /^message\.(created|updated|received)$/.test(event.type) &&
      !heard.has(webhookIdOf(event, incarnations))
    )
      broken.push(`no webhook of event ${event.seq} (${event.type})`)
  for (const reader of readers)
    broken.push(
      ...misread(
        reader,
        log.filter((seq) => seq > reader.startsAfter),
      ),
    )
  return [...broken, ...outOfOrder(sink.received)]
}
