import { expect } from 'vitest'
import { loadConfig } from '../../../src/config.js'
import { openPostgres } from '../../../src/storage/engine/postgres.js'
import { openSqlite } from '../../../src/storage/engine/sqlite.js'
import { eventually, realStorage, type SpawnedServer, spawnServer } from '../../support/server.js'
import type { Engine } from '../../support/world.js'
import { get, PHONES, post } from '../ledger.js'

/** A carrier that outlives every death of ours, and can die itself. */
export interface Carrier {
  driver: string
  config: Record<string, unknown>
  /** Further settings of the line. */
  line?: Record<string, unknown>
  /** Settings of the server. */
  env?: Record<string, string>
  /** For a carrier that dials: where we are from now on, and the line, once it is there. */
  meet?(url: string, lineId?: string): Promise<void>
  /** The texts it has taken from us, in order, each as often as it took it. */
  taken(): string[]
  /** Once, when the next text has come: calls that, and answers, or keeps the text and says nothing. */
  whenTaken(isAnswered: boolean, act: () => void): void
  /** Gone with all its connections; what it has taken it still knows when it comes back. */
  die(): Promise<void>
  revive(): Promise<void>
  /** Tells the fate of everything it has taken; returns the number that it could not tell yet. */
  report(): Promise<number>
  close(): Promise<void>
}

const LOOK_MS = 2

/** For carriers that tell nobody when they have taken something: looks until it is seen. */
export function createLooks(count: () => number) {
  const looks = new Set<NodeJS.Timeout>()
  return {
    /** Calls once when there is one more than now. */
    whenMore(act: () => void) {
      const before = count()
      const look = setInterval(() => {
        if (count() === before) return
        clearInterval(look)
        looks.delete(look)
        act()
      }, LOOK_MS)
      looks.add(look)
    },
    end() {
      for (const look of looks) clearInterval(look)
    },
  }
}

const LINE = '+12025557700'

/** Every step of a send, from the request to the receipt. */
const POINTS = [
  'accept.before_commit',
  'accept.after_commit',
  'dispatch.after_attempt',
  'dispatch.after_wire',
  'dispatch.before_result',
  'dispatch.after_result',
  'receipt.before_commit',
  'receipt.after_commit',
]

/**
 * Kills us at every step of a send, and the carrier at every step of its own. Then: no text twice at the carrier,
 * nothing accepted is lost, and every message has an end, which is either true or says that it is not known.
 */
export async function killEverywhere(engine: Engine, carrier: Carrier): Promise<void> {
  const storage = await realStorage(engine)
  const env = {
    ...storage,
    TRUNKLINE_LEASE_MS: '900',
    TRUNKLINE_WIRE_TIMEOUT_MS: '1500',
    TRUNKLINE_DRAIN_MS: '300',
    LOG_LEVEL: 'silent',
    ...carrier.env,
  }
  const accepted = new Set<string>()
  let n = 0

  async function send(url: string): Promise<boolean> {
    const content = `text ${n++} of many`
    const number = PHONES[n % PHONES.length]
    const answer = await post(url, '/api/send-message', { from_number: LINE, number, content }).catch(
      () => undefined,
    )
    if (answer === undefined) return false
    expect(answer.status, JSON.stringify(answer.body)).toBe(202)
    accepted.add(content)
    return true
  }
  const sendSome = (url: string) => Promise.all(Array.from({ length: 4 }, () => send(url)))

  const spawn = async (options: Parameters<typeof spawnServer>[0]) => {
    const server = await spawnServer(options)
    await carrier.meet?.(server.url)
    return server
  }
  const first = await spawn({ env })
  const [account] = (await get(first.url, '/admin/accounts', 'admin')).data
  const { driver, config, line } = carrier
  const made = await post(
    first.url,
    '/admin/lines',
    { account_id: account.id, number: LINE, driver, pace: 0, settle_ms: 1000, config, ...line },
    {},
    'admin',
  )
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  await carrier.meet?.(first.url, made.body.id)
  await online(first)

  // The carrier is gone before anything could be sent, or dies in the middle of things; we live on.
  await carrier.die()
  await sendSome(first.url)
  await carrier.revive()
  await online(first)
  for (const isAnswered of [true, false]) {
    const death = new Promise<void>((resolve, reject) => {
      carrier.whenTaken(isAnswered, () => carrier.die().then(resolve, reject))
    })
    await sendSome(first.url)
    await death
    await carrier.revive()
    await online(first)
  }
  await first.kill('SIGTERM')

  // We die at named moments.
  for (const point of POINTS) {
    const server = await spawn({ env: { ...env, TRUNKLINE_FAILPOINT: point } }).catch(() => undefined)
    if (!server) continue
    await live(server, point)
    expect(await server.exited, point).toMatchObject({ signal: 'SIGKILL' })
  }

  // We die when the carrier has our bytes: before it answers, and right after.
  for (const isAnswered of [true, false]) {
    const server = await spawn({ env })
    carrier.whenTaken(isAnswered, () => void server.kill('SIGKILL'))
    await live(server, `taken, then ${isAnswered ? '' : 'not '}answered`)
    expect(await server.exited).toMatchObject({ signal: 'SIGKILL' })
  }

  const last = await spawn({ env })
  await online(last)
  /** Messages without a final status. */
  const open = async () => {
    // A message that was given up without evidence learns its fate from a late report.
    const untold = await carrier.report()
    const lists = await Promise.all(
      ['QUEUED', 'PENDING', 'ACCEPTED', 'SENT'].map(
        async (status) => (await get(last.url, `/api/v2/messages?status=${status}&limit=100`)).data,
      ),
    )
    const rest = lists.flat().map(({ status, content }) => `${status} ${content}`)
    return untold === 0 ? rest : [...rest, `${untold} untold`]
  }
  // Four lists each time, and an account may ask for a hundred in ten seconds.
  await eventually(open, (rest) => rest.length === 0, 60_000, 500)
  expect(await last.kill('SIGTERM')).toMatchObject({ code: 0 })

  const copies = new Map<string, number>()
  for (const text of carrier.taken()) copies.set(text, (copies.get(text) ?? 0) + 1)
  const wrong = [...copies].filter(([, count]) => count > 1).map(([text, count]) => `${text}: ${count} times`)
  const messages = await stored(engine, storage)
  for (const text of accepted)
    if (messages.filter(({ content }) => content === text).length !== 1) wrong.push(`${text}: lost`)
  for (const { content, status, error_reason: reason } of messages) {
    const isTaken = copies.has(content)
    if (status === 'DELIVERED' ? !isTaken : status !== 'ERROR' || reason !== 'outcome_unknown')
      wrong.push(`${content}: ${status} ${reason}, ${isTaken ? '' : 'not '}at the carrier`)
    // Every fate was reported, so that what the carrier has cannot stay unknown.
    if (isTaken && status !== 'DELIVERED') wrong.push(`${content}: at the carrier, and ${status}`)
  }
  expect(wrong).toEqual([])
  expect(accepted.size).toBeGreaterThan(10)

  /** Sends until it dies, but slowly: a line that is not driven yet must not have hundreds to make up for. */
  async function live(server: SpawnedServer, why: string) {
    let isDead = false
    void server.exited.then(() => (isDead = true))
    let tries = 0
    const oneMore = async () => {
      const sent = tries === 0 ? await sendSome(server.url) : tries % 4 === 0 ? [await send(server.url)] : []
      tries++
      await carrier.report().catch(() => {})
      return `${why}: it ${isDead || !sent.every(Boolean) ? 'died' : 'never came to that'}`
    }
    await eventually(oneMore, (fate) => fate.endsWith('died'), 120_000, 100)
  }

  async function online(server: SpawnedServer) {
    await eventually(
      async () =>
        (await get(server.url, '/admin/lines', 'admin')).data.find(
          (one: { number: string }) => one.number === LINE,
        ),
      (one) => one?.state === 'ONLINE',
      60_000,
    )
  }
}

async function stored(engine: Engine, storage: Record<string, string>) {
  const config = loadConfig(storage)
  const db = engine === 'postgres' ? await openPostgres(config.databaseUrl!) : await openSqlite(config.data)
  try {
    return await db.all<{ content: string; status: string; error_reason: string | null }>(
      "select content, status, error_reason from messages where content like 'text %'",
    )
  } finally {
    await db.close()
  }
}
