import type { Socket } from 'node:net'
import pg from 'pg'
import { inRunningTime } from '../../../base/in-time.js'
import { isServersWord } from './faults.js'

/**
 * Ends connections on which no answer will come, because the network swallows packets: TCP would wait for a quarter of
 * an hour. Counting bytes costs a statement nothing, so there is no timer for each statement.
 */
export interface Watch {
  add(client: WatchedClient): void
  delete(client: WatchedClient): void
  close(): void
}

/** The parts of a client that tell whether an answer is overdue; the library has no public names for them. */
export interface WatchedClient {
  /** URL of the server that the connection was made to. */
  url: string
  /** Process of PostgreSQL that serves the connection; 0 behind a pooler. */
  pid: number
  connection: { stream: Socket }
  _activeQuery?: unknown
  _sentQueryQueue: readonly unknown[]
}

const TICK_MS = 1000
/** Ticks without a byte before the database is asked about the connection. */
const SUSPECT_TICKS = 2
/** Ticks without a byte before the connection ends in any case: longer than PostgreSQL lets a statement run. */
const LIMIT_TICKS = 40
const PROBE_MS = 3000
const BUSY = `select pid from pg_stat_activity
  where pid = any($1) and state = 'active' and wait_event is distinct from 'ClientRead'`

/** `onDead` hears of servers with a dead connection. With `mayTakeLong`, only the database's word ends a connection. */
export function createWatch(mayTakeLong: boolean, onDead: (url: string) => void): Watch {
  const silences = new Map<WatchedClient, { bytes: number; ticks: number }>()
  let isProbing = false

  function tick() {
    const suspects = new Map<string, WatchedClient[]>()
    for (const [client, silence] of silences) {
      const bytes = client.connection.stream.bytesRead
      const isWaiting = client._activeQuery || client._sentQueryQueue.length > 0
      if (!isWaiting || bytes !== silence.bytes) Object.assign(silence, { bytes, ticks: 0 })
      else if (++silence.ticks >= LIMIT_TICKS && !mayTakeLong) end(client)
      else if (silence.ticks >= SUSPECT_TICKS)
        suspects.set(client.url, [...(suspects.get(client.url) ?? []), client])
    }
    if (isProbing || suspects.size === 0) return
    isProbing = true
    void Promise.all([...suspects].map(([url, clients]) => probe(url, clients))).finally(() => {
      isProbing = false
    })
  }

  /** Asks over a new connection which of the connections PostgreSQL is working for; the others are dead. */
  async function probe(url: string, clients: readonly WatchedClient[]) {
    const busy = await findBusy(
      url,
      clients.map(({ pid }) => pid),
    ).catch((): number[] => [])
    for (const client of clients) {
      const isSilent = silences.get(client)?.bytes === client.connection.stream.bytesRead
      if (isSilent && busy !== 'all' && !busy.includes(client.pid)) end(client)
    }
  }

  function end(client: WatchedClient) {
    onDead(client.url)
    client.connection.stream.destroy()
  }

  const timer = setInterval(tick, TICK_MS).unref()
  return {
    add: (client) => void silences.set(client, { bytes: client.connection.stream.bytesRead, ticks: 0 }),
    delete: (client) => void silences.delete(client),
    close: () => clearInterval(timer),
  }
}

/**
 * Processes that run a statement, not ones that wait for its rest: the network has swallowed it. Those behind a
 * pooler, unknown here, count as busy as long as the pooler answers.
 */
async function findBusy(url: string, pids: readonly number[]): Promise<number[] | 'all'> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'trunkline-probe',
  })
  client.on('error', () => {})
  try {
    const answer = client.connect().then(() => client.query(BUSY, [pids]))
    const { rows } = await inRunningTime(answer, PROBE_MS, () => new Error('the database did not answer'))
    return [0, ...rows.map(({ pid }) => Number(pid))]
  } catch (error) {
    // A server that refuses with words, such as too many connections, is there.
    if (isServersWord(error)) return 'all'
    throw error
  } finally {
    ;(client as unknown as WatchedClient).connection.stream.destroy()
  }
}
