import type { DriverHost, Line, NoAnswer } from 'trunkline/driver'
import { type Api, fieldsOf, listOf, reasonOf } from './api.js'
import { JSON_RPC, type Settings } from './settings.js'

/** An answer that gets lost takes at most this many messages with it. */
const MOST_AT_ONCE = 20
const POLL_MS = 3000
const STORE_AGAIN_MS = 1000

interface Deps {
  api: Api
  line: Line
  host: DriverHost
  /** Resolves once everything in an item is stored. */
  take(item: unknown): Promise<void>
  /** Why Signal refuses sends, if it does. */
  trouble(): string | undefined
}

/** Asks for what Signal has for the line, and so also shows whether the API works. */
export function createReader({ api, line, host, take, trouble }: Deps) {
  const number = encodeURIComponent(line.number)
  const path = `/v1/receive/${number}?timeout=1&max_messages=${MOST_AT_ONCE}&ignore_stories=true`
  const { poll_ms: pauseMs = POLL_MS } = line.config as unknown as Settings
  let isClosed = false
  let wake = () => {}

  async function run(): Promise<void> {
    while (!isClosed) {
      const found = await poll().catch((error: NoAnswer) => {
        host.state('OFFLINE', error.message)
        return 0
      })
      await pause(found === MOST_AT_ONCE ? 0 : pauseMs)
    }
  }

  async function poll(): Promise<number> {
    const { status, body } = await api.ask('GET', path)
    const detail = status === 200 ? trouble() : await explain(status, body)
    host.state(detail ? 'DEGRADED' : 'ONLINE', detail)
    const items = listOf(body)
    for (const item of items) await store(item)
    return items.length
  }

  /** Signal has already deleted the item, so nobody else has it until it is stored. */
  async function store(item: unknown): Promise<void> {
    for (;;) {
      try {
        return await take(item)
      } catch (error) {
        const fields = { line: line.id, reason: (error as Error).name }
        host.log.warn(fields, isClosed ? 'a Signal message is lost' : 'a Signal message is not stored yet')
        if (isClosed) return
        await pause(STORE_AGAIN_MS)
      }
    }
  }

  async function explain(status: number, body: unknown): Promise<string> {
    const { mode } = fieldsOf((await api.ask('GET', '/v1/about')).body)
    return mode === 'json-rpc' ? JSON_RPC : reasonOf(status, body).slice(0, 300)
  }

  /** Ends early when the line closes. On the host's clock, never setTimeout: tests move it. */
  function pause(ms: number): Promise<void> {
    if (isClosed) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = host.clock.after(ms, resolve)
      wake = () => {
        cancel()
        resolve()
      }
    })
  }

  const running = run()
  return {
    async close() {
      isClosed = true
      wake()
      // The answer under way may hold messages that nobody else has.
      await running
    },
  }
}
