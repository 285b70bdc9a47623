import { Readable } from 'node:stream'

/** A stream of server-sent events. What a slow reader has not taken is kept up to a bound; then it is cut off. */
export interface EventStream {
  body: Readable
  /** A named event with its JSON, on one line as the published client wants it. */
  event(name: string, data: object): void
  /** Whole frames, made before. */
  write(frames: Buffer): void
  /**
   * A comment: keeps the connection from looking dead and is no event to anyone. With an id, clients take note of
   * where they are.
   */
  comment(text?: string, id?: number): void
  /** Resolves when what was said before is mostly taken, or nobody takes it any more. */
  ready(): Promise<void>
  /** The regular end, after everything before it. */
  end(): void
}

const MAX_WAITING_BYTES = 64 * 1024
const LITTLE_BYTES = 16 * 1024

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  // Nothing follows on this connection, so that a server that stops need not wait for it.
  connection: 'close',
} as const

export function createEventStream(onClose: () => void, maxWaiting = MAX_WAITING_BYTES): EventStream {
  let wake = () => {}
  const body = new Readable({ read: () => wake() })
  // A reader that goes away in the middle is no error of ours.
  body.on('error', () => {})
  body.once('close', () => {
    wake()
    onClose()
  })
  let ended = false
  const push = (text: string | Buffer) => {
    if (ended || body.destroyed) return
    // Before, not after: one frame may be larger than what may wait.
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

/** The id is what a client that comes back names as the last one it has. */
export function eventFrame(name: string, data: object, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
