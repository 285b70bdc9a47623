import type { Mac } from './state.js'

/** What goes wrong on the way of the events. */
export interface Switches {
  /** Loses an event. */
  drop: boolean | ((type: string, data: unknown) => boolean)
  /** Sends each event so many times. */
  copies: number
  delayMs: number
  /** Holds an event back until so many are there, then sends them the other way round. */
  reorder: number
  /** The first word on a message leaves out its attachments. */
  emptyAttachmentsFirst: boolean
  /** Nothing in the database is seen any more, until a restart. */
  watcherDead: boolean
  /** After a start, what is already there is never announced. */
  seedSilently: boolean
  /** Only so many newest rows are looked at. */
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

/** One event that went out, or would have. */
export interface Emitted {
  type: string
  data: unknown
  dropped: boolean
}

export function createDispatch(mac: () => Mac, switches: Switches) {
  const hooks: Webhook[] = []
  const log: Emitted[] = []
  const posts = new Set<Promise<void>>()
  let held: { type: string; data: unknown }[] = []
  let cancel = new AbortController()

  /** No secret, no id, no second try, and the answer does not matter. */
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
    /** Sends what is held back to be turned round. */
    flush: sendHeld,
    idle: () => posts.size === 0,
    /** Gives up on receivers that do not answer. */
    abandon() {
      cancel.abort()
      cancel = new AbortController()
    },
  }
}
