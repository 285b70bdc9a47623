import type { Mac } from './state.js'

/** Faults in the delivery of events. */
export interface Switches {
  /** Loses an event. */
  drop: boolean | ((type: string, data: unknown) => boolean)
  /** Number of times that each event is sent. */
  copies: number
  delayMs: number
  /** Collects this many events, then sends them in reverse order. */
  reorder: number
  /** The first event of a message omits its attachments. */
  emptyAttachmentsFirst: boolean
  /** Changes in the database go unnoticed until a restart. */
  watcherDead: boolean
  /** Rows that exist at the start are never announced. */
  seedSilently: boolean
  /** Only this many of the newest rows are checked. */
  newestOnly: number | null
}

export const SWITCHES: Switches = {
  drop: false,
  copies: 1,
  delayMs: 0,
  reorder: 0,
  emptyAttachmentsFirst: false,
  watcherDead: false,
  seedSilently: true,
  newestOnly: 100,
}

export interface Webhook {
  id: number
  url: string
  events: string[]
  created: string
}

/** An event that was sent or dropped. */
export interface EmittedEvent {
  type: string
  data: unknown
  dropped: boolean
}

export function createDispatch(mac: () => Mac, switches: Switches) {
  const hooks: Webhook[] = []
  const log: EmittedEvent[] = []
  const posts = new Set<Promise<void>>()
  let held: { type: string; data: unknown }[] = []
  let cancel = new AbortController()

  /** No signature, no id, no retry, and the response is ignored. */
  function post(url: string, body: string) {
    const redirect = mac().profile.followsRedirects ? 'follow' : 'manual'
    const request = fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      redirect,
      signal: cancel.signal,
    }).then(
      (response) =>
        response.arrayBuffer().then(
          () => undefined,
          () => undefined,
        ),
      () => undefined,
    )
    const tracked: Promise<void> = request.finally(() => posts.delete(tracked))
    posts.add(tracked)
  }

  function send({ type, data }: { type: string; data: unknown }) {
    const body = JSON.stringify({ type, data })
    for (const { url, events } of hooks)
      if (events.includes('*') || events.includes(type))
        for (let n = 0; n < switches.copies; n++) post(url, body)
  }

  function sendHeld() {
    const turned = held.reverse()
    held = []
    for (const event of turned) send(event)
  }

  return {
    hooks,
    log,
    emit(type: string, data: unknown) {
      const dropped = typeof switches.drop === 'function' ? switches.drop(type, data) : switches.drop
      log.push({ type, data, dropped })
      if (dropped) return
      if (switches.reorder > 1) {
        held.push({ type, data })
        if (held.length >= switches.reorder) sendHeld()
      } else if (switches.delayMs) mac().clock.after(switches.delayMs, () => send({ type, data }))
      else send({ type, data })
    },
    /** Sends the events that are held back for reordering. */
    flush: sendHeld,
    idle: () => posts.size === 0,
    /** Aborts requests to receivers that do not answer. */
    abandon() {
      cancel.abort()
      cancel = new AbortController()
    },
  }
}
