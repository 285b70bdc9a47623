import { createBoundedMap } from '../../../base/bounded-map.js'
import { urlFault } from '../../../core/url.js'
import { createAccountAgents } from './agents.js'
import { failure, PostFailed } from './failure.js'
import type { createOpen, Limits, RemoteFile } from './get.js'
import type { Guards, guardedAgent } from './guard.js'

/**
 * The only way out for URLs that users choose. The URL is checked as text, every address of its name is checked when
 * the connection is made, and the connection goes to the checked address.
 */
export interface Door {
  /** GETs a URL. The body may be read up to `maxBytes`; redirects are followed and checked one by one. */
  open(url: string, limits: Limits): Promise<RemoteFile>
  /** Like `open`, but reads the body into memory. */
  download(url: string, limits: Limits): Promise<Download>
  /**
   * POSTs to a URL. Any status is an answer, including redirects, whatever happens to the body. Throws PostFailed if
   * there is no status.
   */
  post(url: string, message: PostRequest): Promise<PostResponse>
  /** Aborts the current posts of an account. Later posts are not affected. */
  hangUp(account: string): void
  close(): Promise<void>
}

export interface Download {
  url: string
  contentType: string
  body: Buffer
}

export interface PostRequest {
  /** The account whose connections are used. */
  account: string
  headers: Record<string, string>
  body: string | Buffer
  /** Asked when the connection is there, just before the first byte. False: fails with the reason "stopping". */
  isWanted?(): boolean
  /** Time limit for the whole exchange, from the name lookup to the last byte. */
  timeoutMs?: number
}

export interface PostResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** The first bytes, not decompressed. */
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

/** A checked URL. */
interface Target {
  fault: string | undefined
  origin: string
  path: string
}

export function createDoor(rules: Guards['rules'], options: DoorOptions = {}): Door {
  const guards: Guards = { ...options, rules }
  // The HTTP library loads slower than everything else at a start, so the first use loads it.
  let makeAgent: typeof guardedAgent | undefined
  let opening: Promise<ReturnType<typeof createOpen>> | undefined
  const agents = createAccountAgents(
    () => makeAgent!(guards),
    options.agentLifeMs ?? AGENT_LIFE_MS,
    options.maxAgents ?? MAX_AGENTS,
  )
  let closed = false
  const targets = createBoundedMap<string, Target>(MAX_TARGETS)
  let checkedWith = rules.allowLoopback

  /**
   * The check of the text of a URL can be cached while the rules are the same. The addresses of its name are checked
   * for every connection.
   */
  function targetOf(url: string): Target {
    if (checkedWith !== rules.allowLoopback) {
      checkedWith = rules.allowLoopback
      targets.clear()
    }
    const known = targets.get(url)
    if (known) return known
    const fault = urlFault(url, rules)
    if (fault) return { fault, origin: '', path: '' }
    const { origin, pathname, search } = new URL(url)
    const target = { fault, origin, path: pathname + search }
    targets.set(url, target)
    return target
  }

  async function open(start: string, limits: Limits): Promise<RemoteFile> {
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
    async post(
      url,
      { account, headers, body, isWanted, timeoutMs = options.postTimeoutMs ?? POST_TIMEOUT_MS },
    ) {
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

        /** The status line decides; nothing after it changes the result. */
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
              if (isWanted?.() === false) settle(new PostFailed('stopping', 'the post is not ours any more'))
              // The connection is there after the time limit.
              if (settled) controller.abort(new Error('too late'))
              else abort = () => controller.abort(new Error('no more of this is wanted'))
            },
            onResponseStart(_controller, status, headers) {
              if (status >= 200) answer = { status, headers }
            },
            onResponseData(_controller, chunk) {
              // A copy: the chunk may be a small part of a large buffer.
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
