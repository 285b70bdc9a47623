import { loadConfig } from '../../src/config.js'
import type { Db } from '../../src/storage/engine/db.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { type SmscCarrier, smscCarrier } from '../faults/carriers/smsc-carrier.js'
import { get, post } from '../faults/ledger.js'
import { outOfOrder } from '../faults/webhook-ledger.js'
import { createChance } from '../simulation/chance.js'
import { eventually, realStorage } from '../support/server.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { credentials } from '../support/world.js'
import { type Clients, createClients } from './clients.js'
import { type Fleet, startFleet } from './fleet.js'

const LINE = '+12025557700'
const PERSON = '+12025558800'
/** A webhook that failed twice is posted again after five minutes. */
const PEACE_MS = 600_000
const ENV = {
  TRUNKLINE_LEASE_MS: '2000',
  TRUNKLINE_WIRE_TIMEOUT_MS: '1500',
  TRUNKLINE_DRAIN_MS: '2000',
  LOG_LEVEL: 'silent',
}

export interface Report {
  /** Broken promises, in words. */
  broken: string[]
  sends: number
  texts: number
  fates: Record<string, number>
}

/**
 * Three processes on one PostgreSQL, an SMSC, a receiver, clients that retry and a person who texts; and somebody who
 * kills, pauses and stops processes, ends database sessions and cuts the carrier, by seed. Then all is left in peace and
 * the books must agree.
 */
export async function torment(seed: number, ms: number): Promise<Report> {
  const chance = createChance(seed)
  const [carrier, sink, storage] = await Promise.all([smscCarrier(), createSink(), realStorage('postgres')])
  const db = await openPostgres(loadConfig(storage).databaseUrl!)
  const fleet = await startFleet(3, { ...storage, ...ENV }, chance)
  try {
    await setUp(fleet.anyUrl(), carrier, sink)
    const clients = createClients(fleet, chance)
    const texts = new Map<string, boolean>()
    const end = performance.now() + ms
    const until = async (work: () => Promise<unknown>, pauseMs: () => number) => {
      while (performance.now() < end) {
        await work()
        await new Promise((resolve) => setTimeout(resolve, pauseMs()))
      }
    }
    const deliver = async () => {
      for (const [content, isTaken] of texts)
        if (!isTaken) texts.set(content, await carrier.text(PERSON, LINE, content))
    }
    await Promise.all([
      ...Array.from({ length: 4 }, () =>
        until(
          () => clients.send(LINE),
          () => 20 + chance.below(100),
        ),
      ),
      until(
        () => deliver().finally(() => texts.set(`answer ${texts.size}`, false)),
        () => chance.below(300),
      ),
      until(
        () => carrier.report().catch(() => {}),
        () => 200,
      ),
      until(
        () => disturb(fleet, carrier, db, chance.below(6)),
        () => 500 + chance.below(1500),
      ),
    ])
    await eventually(
      async () => {
        await deliver()
        return [await carrier.report(), [...texts.values()].filter((one) => !one).length, ...(await open(db))]
      },
      (left) => left.every((one) => one === 0),
      PEACE_MS,
      500,
    )
    const broken = await judge(db, { carrier, sink, clients, texts: [...texts.keys()] })
    return {
      broken,
      sends: clients.sent.size,
      texts: texts.size,
      fates: Object.fromEntries(fleet.fates),
    }
  } finally {
    await fleet.stop()
    await Promise.all([db.close(), carrier.close(), sink.close()])
  }
}

async function setUp(url: string, { driver, config }: SmscCarrier, sink: Sink): Promise<void> {
  const [account] = (await get(url, '/admin/accounts', 'admin')).data
  const line = { account_id: account.id, number: LINE, driver, pace: 0, settle_ms: 1000, config }
  const made = await post(url, '/admin/lines', line, {}, 'admin')
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  const hook = { url: `${sink.url}/hook`, retry_schedule: 'extended' }
  await fetch(`${url}/api/account/webhooks`, {
    method: 'PUT',
    headers: { ...credentials('live'), 'content-type': 'application/json' },
    body: JSON.stringify({ webhooks: { receive: [hook], outbound: [hook] } }),
  })
}

async function disturb(fleet: Fleet, carrier: SmscCarrier, db: Db, dice: number): Promise<void> {
  if (dice === 0) {
    fleet.fates.set('sessions ended', (fleet.fates.get('sessions ended') ?? 0) + 1)
    await db.all(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
  } else if (dice === 1) {
    fleet.fates.set('carrier gone', (fleet.fates.get('carrier gone') ?? 0) + 1)
    await carrier.die()
    await new Promise((resolve) => setTimeout(resolve, 1000))
    await carrier.revive()
  } else await fleet.strike()
}

/** Messages, receipts, webhooks and events that are still on their way. */
async function open(db: Db): Promise<number[]> {
  const row = await db.one<Record<string, number>>(
    `select (select count(*) from messages where next_action_at is not null) as messages,
       (select count(*) from parked_receipts) as receipts,
       (select count(*) from webhook_deliveries where next_at is not null) as webhooks,
       (select count(*) from webhook_feeds f join event_counters c on c.account_id = f.account_id
        where f.seq < c.last_seq) as events`,
  )
  return Object.values(row!).map(Number)
}

interface Evidence {
  carrier: SmscCarrier
  sink: Sink
  clients: Clients
  texts: string[]
}

async function judge(db: Db, { carrier, sink, clients, texts }: Evidence): Promise<string[]> {
  const broken = [...clients.strange]
  const copies = new Map<string, number>()
  for (const text of carrier.taken()) copies.set(text, (copies.get(text) ?? 0) + 1)
  for (const [text, n] of copies) if (n > 1) broken.push(`${text}: ${n} times at the carrier`)

  const stored = await db.all<{ handle: string; content: string; status: string; reason: string | null }>(
    'select handle, content, status, error_reason as reason from messages',
  )
  const of = (content: string) => stored.filter((one) => one.content === content)
  for (const text of clients.sent) {
    const [message, ...more] = of(text)
    if (more.length > 0) broken.push(`${text}: stored ${more.length + 1} times`)
    const handle = clients.acknowledged.get(text)
    if (handle && message?.handle !== handle) broken.push(`${text}: acknowledged as ${handle}, not stored`)
    if (!message) continue
    const isTaken = copies.has(text)
    if (isTaken !== (message.status === 'DELIVERED'))
      broken.push(`${text}: ${message.status} ${message.reason}, ${isTaken ? '' : 'not '}at the carrier`)
  }
  for (const text of texts) if (of(text).length !== 1) broken.push(`${text}: stored ${of(text).length} times`)

  const events = await db.all<{ account_id: string; seq: number; type: string }>(
    'select account_id, seq, type from events order by account_id, seq',
  )
  for (const [i, { account_id, seq }] of events.entries()) {
    const before = events[i - 1]
    if (before?.account_id === account_id && before.seq !== seq - 1) broken.push(`no event before ${seq}`)
  }
  const heard = new Set(sink.received.map(({ headers }) => headers['webhook-id']))
  for (const { account_id, seq, type } of events)
    if (/^message\.(created|updated|received)$/.test(type) && !heard.has(`evt_${account_id}_${seq}`))
      broken.push(`no webhook of event ${seq} (${type})`)
  return [...broken, ...outOfOrder(sink.received)]
}
