import { loadConfig } from '../../src/config.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { openSqlite } from '../../src/storage/engine/sqlite.js'
import { credentials, type Engine, type Json, LINE } from '../support/world.js'

/**
 * Ground truth kept outside the system: what the client was told, what the phones show, what the database holds.
 * One checker for every test that breaks things.
 */
export const PHONES = Array.from({ length: 8 }, (_, i) => `+1202555${3000 + i}`)

export interface Ledger {
  /** Contents whose send was answered with 202, with the handle the client was given. */
  acknowledged: Map<string, string>
  /** Contents whose answer never came. */
  inDoubt: Set<string>
}

export function newLedger(): Ledger {
  return { acknowledged: new Map(), inDoubt: new Set() }
}

export async function post(
  url: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
  as: 'live' | 'admin' = 'live',
) {
  const response = await fetch(url + path, {
    method: path.startsWith('/admin/lines/') ? 'PATCH' : 'POST',
    headers: { ...credentials(as), 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Json }
}

export async function get(url: string, path: string, as: 'live' | 'admin' = 'live'): Promise<Json> {
  return (await fetch(url + path, { headers: credentials(as) })).json()
}

/** Sends one text and writes down what the client knows afterwards. */
export async function send(ledger: Ledger, url: string, content: string, retry = 0): Promise<boolean> {
  const number = PHONES[Number(/\d+/.exec(content)) % PHONES.length]
  try {
    const headers: Record<string, string> = retry > 0 ? { 'x-stainless-retry-count': String(retry) } : {}
    const { status, body } = await post(
      url,
      '/api/send-message',
      { from_number: LINE, number, content },
      headers,
    )
    if (status !== 202) throw new Error(`${status}: ${JSON.stringify(body)}`)
    ledger.acknowledged.set(content, body.message_handle)
    ledger.inDoubt.delete(content)
    return true
  } catch (error) {
    if (error instanceof Error && /^\d/.test(error.message)) throw error
    ledger.inDoubt.add(content)
    return false
  }
}

/** Sets up the default line so that it is quick, and asks about lost answers soon. */
export async function tuneLine(url: string, settings: object): Promise<void> {
  const lines = (await get(url, '/admin/lines', 'admin')).data
  const line = lines.find((one: Json) => one.number === LINE && one.world === 'live')
  const { status, body } = await post(url, `/admin/lines/${line.id}`, settings, {}, 'admin')
  if (status !== 200) throw new Error(JSON.stringify(body))
}

export interface Found {
  messages: { handle: string; content: string; status: string; error_reason: string | null }[]
  onPhones: Map<string, number>
  sequence: number[]
  lastNumber: number
}

/** Reads the database of a stopped service. */
export async function inspect(engine: Engine, storage: Record<string, string>): Promise<Found> {
  const config = loadConfig(storage)
  const db = engine === 'postgres' ? await openPostgres(config.databaseUrl!) : await openSqlite(config.data)
  try {
    const messages = await db.all<Found['messages'][number]>(
      'select handle, content, status, error_reason from messages',
    )
    const shown = await db.all<{ content: string; n: number }>(
      'select content, count(*) as n from phone_messages group by content',
    )
    const account = await db.one<{ id: string }>("select id from accounts where world = 'live'")
    const events = await db.all<{ seq: number }>(
      'select seq from events where account_id = $1 order by seq',
      [account!.id],
    )
    const counter = await db.one<{ last_seq: number }>(
      'select last_seq from event_counters where account_id = $1',
      [account!.id],
    )
    return {
      messages,
      onPhones: new Map(shown.map((row) => [row.content, row.n])),
      sequence: events.map((event) => event.seq),
      lastNumber: counter!.last_seq,
    }
  } finally {
    await db.close()
  }
}

/** Broken promises, in words. */
export function violations(ledger: Ledger, found: Found): string[] {
  const wrong: string[] = []
  const byContent = new Map<string, Found['messages']>()
  for (const message of found.messages)
    byContent.set(message.content, [...(byContent.get(message.content) ?? []), message])
  for (const [content, handle] of ledger.acknowledged) {
    const stored = byContent.get(content) ?? []
    if (stored.length !== 1) wrong.push(`${content}: acknowledged, but stored ${stored.length} times`)
    else if (stored[0]!.handle !== handle)
      wrong.push(`${content}: stored under another handle than the client was told`)
  }
  for (const [content, n] of found.onPhones) if (n > 1) wrong.push(`${content}: ${n} times on the phone`)
  for (const { content, status, error_reason } of found.messages) {
    const copies = found.onPhones.get(content) ?? 0
    if ((status === 'SENT' || status === 'DELIVERED') && copies !== 1)
      wrong.push(`${content}: ${status}, but ${copies} on the phone`)
    if (!['SENT', 'DELIVERED', 'ERROR'].includes(status)) wrong.push(`${content}: left in ${status}`)
    if (status === 'ERROR' && error_reason !== 'outcome_unknown')
      wrong.push(`${content}: ERROR ${error_reason}`)
  }
  found.sequence.forEach((seq, i) => {
    if (seq !== i + 1) wrong.push(`event number ${i + 1} is ${seq}`)
  })
  if (found.lastNumber !== found.sequence.length)
    wrong.push(`the counter says ${found.lastNumber}, the log has ${found.sequence.length}`)
  return wrong
}
