import { setTimeout as pause } from 'node:timers/promises'
import { ApiError, answer, codeOf, serverOf, WHICH_KEY } from '../client.js'
import type { Args } from '../command.js'
import { note } from '../output.js'

/** Something that a stream of server-sent events said. */
export interface FeedItem {
  /** Whoever has this stands here. */
  id: number
  /** Nothing when only the place has moved on. */
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
  /** With its query; `since` among it counts only until the first id is known. */
  path: string
  /** The last id that the caller has. */
  after: number | undefined
  signal: AbortSignal
}

/** The server lets itself be heard every 15 seconds. */
const SILENCE_MS = 60_000
const WAIT_MS = { first: 250, most: 10_000 } as const

/**
 * A stream that goes on when its connection ends, from where the caller is: nothing is lost and nothing comes twice.
 * Only a server that was never there, or that refuses, is an error. Ends when the signal says so.
 */
export async function* followFeed(args: Args, options: FeedOptions): AsyncGenerator<FeedItem> {
  const { signal } = options
  let { after } = options
  let wait: number = WAIT_MS.first
  let wasOpen = false
  let isTold = false
  while (!signal.aborted) {
    try {
      for await (const item of readOnce(args, options, after)) {
        wasOpen = true
        isTold = false
        wait = WAIT_MS.first
        after = item.id
        yield item
      }
    } catch (error) {
      if (signal.aborted) return
      const isRefusal = error instanceof ApiError && error.status !== undefined && !isPassing(error.status)
      if (isRefusal || !wasOpen) throw error
      if (!isTold) note(args, `The connection broke (${codeOf(error)}); connecting again.`)
      isTold = true
    }
    await pause(wait, undefined, { signal }).catch(() => {})
    wait = Math.min(wait * 2, WAIT_MS.most)
  }
}

function isPassing(status: number): boolean {
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
  signal.addEventListener('abort', abort)
  let silence: NodeJS.Timeout | undefined
  try {
    silence = setTimeout(abort, SILENCE_MS)
    const response = await fetch(new URL(path, url), {
      headers: { ...credentials, ...(after === undefined ? {} : { 'last-event-id': String(after) }) },
      signal: controller.signal,
    }).catch((error) => {
      throw new ApiError(`No server answers at ${url}. Start one with "trunkline serve".`, undefined, {
        cause: error,
      })
    })
    if (!response.ok || !response.body)
      return void answer(response.status, await response.text(), WHICH_KEY.live)
    const decoder = new TextDecoder()
    let text = ''
    const reader = response.body.getReader()
    for (;;) {
      clearTimeout(silence)
      silence = setTimeout(abort, SILENCE_MS)
      const { done, value } = await reader.read()
      clearTimeout(silence)
      // A frame that was cut off in the middle counts as not sent.
      if (done) return
      text += decoder.decode(value, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop()!
      for (const frame of frames) {
        const item = parse(frame)
        if (item) yield item
      }
    }
  } finally {
    clearTimeout(silence)
    signal.removeEventListener('abort', abort)
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

/** Runs until it is over or somebody stops it, which is a regular end. */
export async function untilStopped(
  { io }: Args,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController()
  const stop = () => controller.abort()
  const forget = io.onSignal(stop)
  // Whoever reads what we print has enough, like head.
  io.stdout.on('error', stop)
  try {
    await work(controller.signal)
  } finally {
    forget()
  }
}

/** The end of the account's log: what happens from now on comes after it. */
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
