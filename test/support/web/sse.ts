import { credentials, type Json, type Who } from '../world.js'

export interface Frame {
  /** Name of the event; empty for a comment. */
  event: string
  data: Json
  /** Where a reader that has it stands, if it says so. */
  id?: string
}

/** An open stream of server-sent events, read frame by frame. */
export interface Follower {
  status: number
  headers: Headers
  /** Waits for the next frame; undefined at the end of the stream. */
  next(): Promise<Frame | undefined>
  close(): void
}

export async function follow(
  world: { app: { url(): string } },
  path: string,
  as: Who = 'live',
  more: Record<string, string> = {},
): Promise<Follower> {
  const controller = new AbortController()
  const headers = { ...credentials(as), ...more }
  const response = await fetch(world.app.url() + path, { headers, signal: controller.signal })
  const frames = framesOf(response.body!)
  return {
    status: response.status,
    headers: response.headers,
    next: async () => (await frames.next()).value as Frame | undefined,
    close: () => controller.abort(),
  }
}

async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield parse(text.slice(0, end))
      text = text.slice(end + 2)
    }
  }
  if (text !== '') throw new Error(`The stream ended in the middle of a frame: ${text}`)
}

function parse(frame: string): Frame {
  const comment = /^: ([^\n]*)(?:\nid: (\d+))?$/.exec(frame)
  const match = comment ? undefined : /^(?:id: (\d+)\n)?event: (\S+)\ndata: ([^\n]*)$/.exec(frame)
  if (comment) return { event: '', data: comment[1], ...(comment[2] ? { id: comment[2] } : {}) }
  if (!match) throw new Error(`Not a frame: ${frame}`)
  return { event: match[2]!, data: JSON.parse(match[3]!), ...(match[1] ? { id: match[1] } : {}) }
}
