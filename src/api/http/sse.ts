import { Readable } from 'node:stream'

/** A stream of server-sent events. A reader with too many unread bytes is disconnected. */
export interface EventStream {
  body: Readable
  /** A named event with its JSON on one line, as the published client expects. */
  event(name: string, data: object): void
  /** Complete frames. */
  write(frames: Buffer): void
  /**
   * A comment, which keeps the connection alive and is not an event. With an id, clients advance their bookmark.
   */
  comment(text?: string, id?: number): void
  /** Resolves when most of the written bytes are read, or the reader is gone. */
  ready(): Promise<void>
  /** Ends the stream after everything that was written. */
  end(): void
}

const MAX_WAITING_BYTES = 64 * 1024
const LITTLE_BYTES = 16 * 1024

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-store, no-transform',
  'x-accel-buffering': 'no',
  // A stopping server does not wait for a connection without further requests.
  connection: 'close',
} as const

export function createEventStream(onClose: () => void, maxWaiting = MAX_WAITING_BYTES): EventStream {
  let wake = () => {}
  // Node reads on below this mark, once: a higher one would leave `ready` waiting for ever.
  const body = new Readable({ read: () => wake(), highWaterMark: LITTLE_BYTES })
  // A reader may disconnect at any time.
  body.on('error', () => {})
  body.once('close', () => {
    wake()
    onClose()
  })
  let ended = false
  const push = (text: string | Buffer) => {
    if (ended || body.destroyed) return
    // Checked before the push: one frame may be larger than the limit.
    if (body.readableLength > maxWaiting) body.destroy()
    else body.push(text)
  }
  return {
    body,
    event: (name, data) => push(eventFrame(name, data)),
    write: push,
    comment: (text = 'heartbeat', id) => push(`: ${text}\n${id === undefined ? '' : `id: ${id}\n`}\n`),
    async ready() {
      while (!body.destroyed && body.readableLength > LITTLE_BYTES)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    },
    end() {
      if (ended) return
      ended = true
      body.push(null)
    },
  }
}

/** A reconnecting client sends the id of its last event. */
export function eventFrame(name: string, data: object, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
