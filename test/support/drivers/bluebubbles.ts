import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type BlueBubbles,
  type BlueBubblesOptions,
  createBlueBubbles,
} from '../../peers/bluebubbles/bluebubbles.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read answers field by field.
export type Answer = { status: number; body: any; headers: Headers; bytes: Buffer }
// biome-ignore lint/suspicious/noExplicitAny: tests read events field by field.
export type Event = { type: string; data: any }

/** The Macs and webhook receivers of one test, closed together. */
export function createMacs() {
  const closing: (() => Promise<unknown>)[] = []
  return {
    async open(options: BlueBubblesOptions = {}): Promise<BlueBubbles> {
      const mac = await createBlueBubbles({ speed: 10_000, ...options })
      closing.push(() => mac.close())
      return mac
    },
    /** Starts a webhook receiver. */
    async receiver() {
      const got: Event[] = []
      const server = createServer(async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk as Buffer)
        got.push(JSON.parse(Buffer.concat(chunks).toString()))
        response.end()
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      closing.push(() => new Promise((resolve) => server.close(resolve)))
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, got }
    },
    async close() {
      for (const close of closing.splice(0)) await close()
    },
  }
}

/** Sends a request with the password in the query, as clients do. */
export async function ask(mac: BlueBubbles, route: string, body?: unknown): Promise<Answer> {
  const [method, path] = route.split(' ') as [string, string]
  const url = path.startsWith('/') ? `${mac.url}${path}` : `${mac.url}/api/v1/${path}`
  const mark = path.includes('?') ? '&' : '?'
  return fetched(await fetch(`${url}${mark}password=${mac.password}`, { method, ...payload(body) }))
}

export async function fetched(response: Response): Promise<Answer> {
  const bytes = Buffer.from(await response.arrayBuffer())
  const json = response.headers.get('content-type')?.includes('json')
  return {
    status: response.status,
    body: json ? JSON.parse(bytes.toString()) : bytes.toString(),
    headers: response.headers,
    bytes,
  }
}

function payload(body: unknown) {
  if (body === undefined) return {}
  if (body instanceof FormData) return { body }
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

export function form(
  fields: Record<string, string>,
  files: Record<string, { name: string; bytes: Buffer }>,
): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.append(name, value)
  for (const [name, file] of Object.entries(files))
    data.append(name, new Blob([new Uint8Array(file.bytes)]), file.name)
  return data
}

export async function eventually(check: () => void, ms = 2000) {
  const end = Date.now() + ms
  for (;;)
    try {
      return check()
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
}

/** A clock that tests move by hand. */
export function manualClock(start = Date.now()) {
  let now = start
  let timers: { at: number; fn: () => void }[] = []
  return {
    now: () => now,
    after(ms: number, fn: () => void) {
      const timer = { at: now + ms, fn }
      timers.push(timer)
      return () => {
        timers = timers.filter((item) => item !== timer)
      }
    },
    advance(ms: number) {
      const end = now + ms
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
        if (!next) break
        timers = timers.filter((item) => item !== next)
        now = Math.max(now, next.at)
        next.fn()
      }
      now = end
    },
  }
}
