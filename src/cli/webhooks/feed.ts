import { setTimeout as pause } from 'node:timers/promises'
import type { Args } from '../args.js'
import { ApiError, answer, codeOf, serverOf, WHICH_KEY } from '../client.js'
import { note } from '../output.js'

/** One frame of a stream of server-sent events. */
export interface FeedItem {
  /** Sequence number to continue after. */
  id: number
  /** Undefined in a frame that only moves the position forward. */
  event?: { name: string; data: string }
}

/** An event as `/api/v2/events` sends it. */
export interface Envelope {
  id: string
  type: string
  occurred_at: string
  data: Record<string, unknown>
}

export function envelopeIn({ data }: NonNullable<FeedItem['event']>): Envelope {
  return JSON.parse(data)
}

export interface FeedOptions {
  /** With its query. A `since` in it counts only until the first id is known. */
  path: string
  /** The last id that the caller has received. */
  after: number | undefined
  signal: AbortSignal
}

/** The server sends a keep-alive every 15 seconds. */
const SILENCE_MS = 60_000
const WAIT_MS = { first: 250, most: 10_000 } as const

/**
 * Reads a stream and reconnects when the connection breaks, after the last id: no frame is lost or comes twice. Throws
 * only if the first connection fails or the server refuses the request. Ends when `signal` aborts.
 */
export async function* followFeed(args: Args, options: FeedOptions): AsyncGenerator<FeedItem> {
  const { signal } = options
  let { after } = options
  let wait: number = WAIT_MS.first
  let wasOpen = false
  let isNoted = false
  while (!signal.aborted) {
    try {
      for await (const item of readOnce(args, options, after)) {
        wasOpen = true
        isNoted = false
        wait = WAIT_MS.first
        after = item.id
        yield item
      }
    } catch (error) {
      if (signal.aborted) return
      const isRefusal = error instanceof ApiError && error.status !== undefined && !isTemporary(error.status)
      if (isRefusal || !wasOpen) throw error
      if (!isNoted) note(args, `The connection broke (${codeOf(error)}); connecting again.`)
      isNoted = true
    }
    await pause(wait, undefined, { signal }).catch(() => {})
    wait = Math.min(wait * 2, WAIT_MS.most)
  }
}

function isTemporary(status: number): boolean {
  return status === 429 || status >= 500
}

async function* readOnce(
  args: Args,
  { path, signal }: FeedOptions,
  after: number | undefined,
): AsyncGenerator<FeedItem> {
  const { url, credentials } = serverOf(args, 'live')
  const controller = new AbortController()
  const abort = () => controller.abort()
  let silence = setTimeout(abort, SILENCE_MS)
  try {
    const response = await fetch(new URL(path, url), {
      headers: { ...credentials, ...(after === undefined ? {} : { 'last-event-id': String(after) }) },
      signal: AbortSignal.any([signal, controller.signal]),
    }).catch((error) => {
      throw new ApiError(`No server answers at ${url}. Start one with "trunkline serve".`, undefined, {
        cause: error,
      })
    })
    if (!response.ok || !response.body)
      return void answer(response.status, await response.text(), WHICH_KEY.live)
    let text = ''
    // An incomplete frame at the end is dropped: the server sends it again after a reconnect.
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      clearTimeout(silence)
      const frames = (text + chunk).split('\n\n')
      text = frames.pop()!
      for (const frame of frames) {
        const item = parse(frame)
        if (item) yield item
      }
      silence = setTimeout(abort, SILENCE_MS)
    }
  } finally {
    clearTimeout(silence)
    controller.abort()
  }
}

function parse(frame: string): FeedItem | undefined {
  const fields = new Map<string, string>()
  for (const line of frame.split('\n')) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (name !== undefined) fields.set(name, value!)
  }
  const id = fields.get('id')
  if (id === undefined) return undefined
  const data = fields.get('data')
  return data === undefined
    ? { id: Number(id) }
    : { id: Number(id), event: { name: fields.get('event') ?? 'message', data } }
}

/** Runs `work` and aborts its signal on SIGINT, SIGTERM or when standard output is closed. */
export async function untilStopped(
  { io }: Args,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController()
  const stop = () => controller.abort()
  const forget = io.onStop(stop)
  try {
    await work(controller.signal)
  } finally {
    forget()
  }
}

/** The sequence number of the account's newest event. */
export async function positionNow(args: Args, signal: AbortSignal): Promise<number> {
  const controller = new AbortController()
  const path = '/api/v2/events?types=message.received'
  const both = AbortSignal.any([signal, controller.signal])
  try {
    for await (const { id } of followFeed(args, { path, after: undefined, signal: both })) return id
    throw signal.reason
  } finally {
    controller.abort()
  }
}
