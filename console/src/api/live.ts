import type { QueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { openStream } from './client'
import { markStale, staleWords } from './stale'

/** An event of the account's event stream. */
export interface LiveEvent {
  /** The event's sequence number in the account. */
  seq: number
  id: string
  type: string
  occurred_at: string
  data: Record<string, unknown>
}

export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'offline'

type Listener = (event: LiveEvent) => void

const listeners = new Set<Listener>()
const watchers = new Set<() => void>()
let state: LiveState = 'offline'

function setState(next: LiveState) {
  state = next
  for (const watcher of watchers) watcher()
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => state,
  )
}

/** Calls the listener for every event as it happens. */
export function useLiveEvents(listener: Listener): void {
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => {
    const call: Listener = (event) => latest.current(event)
    listeners.add(call)
    return () => void listeners.delete(call)
  }, [])
}

const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 15_000

/** Follows the account's event stream until it is stopped. After a lost connection the server sends the missed events. */
export function startLive(client: QueryClient): () => void {
  const stop = new AbortController()
  let last: string | undefined
  let wait = FIRST_WAIT_MS

  const take = (frame: Frame) => {
    if (frame.id) last = frame.id
    if (!frame.event || !frame.data) return
    const event = { ...JSON.parse(frame.data), seq: Number(frame.id) } as LiveEvent
    for (const listener of listeners) listener(event)
    if (event.type === 'world.reset') void client.invalidateQueries()
    else markStale(client, ...staleWords(event.type))
  }

  async function follow() {
    while (!stop.signal.aborted) {
      try {
        const headers: Record<string, string> = last ? { 'last-event-id': last } : {}
        const response = await openStream('/api/v2/events?types=all', headers, stop.signal)
        if (response.status === 401 || response.status === 403) {
          setState('offline')
          // The session has ended or changed: read it again.
          if (response.status === 401) void client.invalidateQueries({ queryKey: ['session'] })
          return
        }
        if (!response.ok || !response.body) throw new Error(`events: ${response.status}`)
        // No event announces changes between loading the page and opening the stream.
        if (!last || state === 'reconnecting') void client.invalidateQueries()
        setState('live')
        wait = FIRST_WAIT_MS
        await readFrames(response.body, take)
        setState('reconnecting')
      } catch {
        if (stop.signal.aborted) return
        setState('reconnecting')
      }
      await new Promise((done) => setTimeout(done, wait))
      wait = Math.min(wait * 2, MAX_WAIT_MS)
    }
  }
  setState('connecting')
  void follow()
  return () => {
    stop.abort()
    setState('offline')
  }
}

interface Frame {
  id?: string
  event?: string
  data?: string
}

/** Parses server-sent events. The browser's EventSource cannot send headers. */
export async function readFrames(body: ReadableStream<Uint8Array>, take: (frame: Frame) => void) {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += value
    const frames = text.split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames) take(parseFrame(frame))
  }
}

function parseFrame(text: string): Frame {
  const frame: Frame = {}
  for (const line of text.split('\n')) {
    const [, name, value] = /^(id|event|data): ?(.*)$/.exec(line) ?? []
    if (name === 'data') frame.data = (frame.data === undefined ? '' : `${frame.data}\n`) + value
    else if (name) frame[name as 'id' | 'event'] = value
  }
  return frame
}
