import { Readable } from 'node:stream'

/** A stream of server-sent events. What a slow reader has not taken is kept up to a bound; then it is cut off. */
export interface EventStream {
  body: Readable
  /** A named event with its JSON, on one line as the published client wants it. */
  event(name: string, data: object): void
  /** A comment: keeps the connection from looking dead and is no event to anyone. */
  comment(): void
  /** The regular end, after everything before it. */
  end(): void
}

const MAX_WAITING_BYTES = 64 * 1024

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  // Nothing follows on this connection, so that a server that stops need not wait for it.
  connection: 'close',
} as const

export function createEventStream(onClose: () => void): EventStream {
  const body = new Readable({ read() {} })
  // A reader that goes away in the middle is no error of ours.
  body.on('error', () => {})
  body.once('close', onClose)
  let ended = false
  const push = (text: string) => {
    if (ended || body.destroyed) return
    body.push(text)
    if (body.readableLength > MAX_WAITING_BYTES) body.destroy()
  }
  return {
    body,
    event: (name, data) => push(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`),
    comment: () => push(': heartbeat\n\n'),
    end() {
      if (ended) return
      ended = true
      body.push(null)
    },
  }
}
