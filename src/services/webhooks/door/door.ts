import { createBoundedMap } from '../../../base/bounded-map.js'
import { urlFault } from '../../../core/url.js'
import { createAccountAgents } from './agents.js'
import { failure, PostFailed } from './failure.js'
import type { createOpen, Limits, Opened } from './get.js'
import type { Guards, guardedAgent } from './guard.js'

/**
 * The one way out for every URL that a user chose. The URL is checked as text, every address its name leads to
 * is checked when the connection is made, and the connection goes to the very address that was checked.
 */
export interface Door {
  /** GETs a URL. The body may be read to `maxBytes`; redirects are followed and checked hop by hop. */
  open(url: string, limits: Limits): Promise<Opened>
  /** The same, read into memory. */
  download(url: string, limits: Limits): Promise<Downloaded>
  /**
   * POSTs to a URL. Any status is an answer, a redirect among them, however its body misbehaves; without one it is
   * a PostFailed.
   */
  post(url: string, message: Posting): Promise<PostResponse>
  /** Breaks off what is being posted for an account; what comes later goes as always. */
  hangUp(account: string): void
  close(): Promise<void>
}

export interface Downloaded {
  url: string
  contentType: string
  body: Buffer
}

export interface Posting {
  /** Whose connections are used. */
  account: string
  headers: Record<string, string>
  body: string | Buffer
  /** For everything, from the name to the last byte. */
  timeoutMs?: number
}

export interface PostResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** The beginning, as it came: nothing is inflated. */
  body: Buffer
  ms: number
}

export interface DoorOptions extends Omit<Guards, 'rules'> {
  postTimeoutMs?: number
  agentLifeMs?: number
  maxAgents?: number
}

const POST_TIMEOUT_MS = 45_000
const READ_BYTES = 65_536
const KEPT_BYTES = 8192
const AGENT_LIFE_MS = 60_000
const MAX_AGENTS = 1000
const MAX_TARGETS = 1000

/** A URL that was looked at. */
interface Target {
  fault: string | undefined
  origin: string
  path: string
}

export function createDoor(rules: Guards['rules'], options: DoorOptions = {}): Door {
  const guards: Guards = { ...options, rules }
  // The HTTP library takes longer to load than everything else a start does: it comes with the first use.
  let makeAgent: typeof guardedAgent | undefined
  let opening: Promise<ReturnType<typeof createOpen>> | undefined
  const agents = createAccountAgents(
    () => makeAgent!(guards),
    options.agentLifeMs ?? AGENT_LIFE_MS,
    options.maxAgents ?? MAX_AGENTS,
  )
  let closed = false
  const targets = createBoundedMap<string, Target>(MAX_TARGETS)

  /** The text of a URL says the same each time. Where its name leads to is looked at for every connection. */
  function targetOf(url: string): Target {
    const known = targets.get(url)
    if (known) return known
    const fault = urlFault(url, rules)
    if (fault) return { fault, origin: '', path: '' }
    const { origin, pathname, search } = new URL(url)
    const target = { fault, origin, path: pathname + search }
    targets.set(url, target)
    return target
  }

  async function open(start: string, limits: Limits): Promise<Opened> {
    opening ??= import('./get.js').then((library) => library.createOpen(guards, () => closed))
    return (await opening).open(start, limits)
  }

  return {
    open,
    async download(start, limits) {
      const { body, ...rest } = await open(start, limits)
      const chunks: Buffer[] = []
      for await (const chunk of body) chunks.push(chunk)
      return { ...rest, body: Buffer.concat(chunks) }
    },
    async post(url, { account, headers, body, timeoutMs = options.postTimeoutMs ?? POST_TIMEOUT_MS }) {
      const startedAt = performance.now()
      makeAgent ??= (await import('./guard.js')).guardedAgent
      return new Promise((resolve, reject) => {
        if (closed) return reject(new PostFailed('stopping', 'the door is closed'))
        const { fault, origin, path } = targetOf(url)
        if (fault) return reject(new PostFailed('blocked', `the URL ${fault}`))
        let abort: (() => void) | undefined
        let settled = false
        let answer: Pick<PostResponse, 'status' | 'headers'> | undefined
        const kept: Buffer[] = []
        let size = 0

        /** What came after the status line, or did not, changes nothing. */
        function settle(error?: unknown) {
          if (settled) return
          settled = true
          clearTimeout(timer)
          if (answer) resolve({ ...answer, body: Buffer.concat(kept), ms: performance.now() - startedAt })
          else reject(closed ? new PostFailed('stopping', 'the door was closed') : failure(error))
        }
        const timer = setTimeout(() => {
          settle(new PostFailed('timeout', `no answer in ${timeoutMs} ms`))
          abort?.()
        }, timeoutMs)

        agents.of(account).dispatch(
          { origin, path, method: 'POST', headers, body },
          {
            onRequestStart(controller) {
              // Connected at last, and nobody waits any more.
              if (settled) controller.abort(new Error('too late'))
              else abort = () => controller.abort(new Error('no more of this is wanted'))
            },
            onResponseStart(_controller, status, headers) {
              if (status >= 200) answer = { status, headers }
            },
            onResponseData(_controller, chunk) {
              // A copy: the piece may be a small part of a large buffer.
              if (size < KEPT_BYTES) kept.push(Buffer.from(chunk.subarray(0, KEPT_BYTES - size)))
              size += chunk.length
              if (size <= READ_BYTES) return
              settle()
              abort?.()
            },
            onResponseEnd: () => settle(),
            onResponseError: (_controller, error) => settle(error),
          },
        )
      })
    },
    hangUp: agents.drop,
    async close() {
      closed = true
      await Promise.all([opening?.then(({ close }) => close()), agents.destroy()])
    },
  }
}
