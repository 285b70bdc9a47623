import type { LineState } from '../core/lines/line.js'
import type { OpenSend, Receipt } from '../core/messages/outcome.js'
import type { GroupNews, Inbound, MediaBytes } from './inbound.js'

/** Everything a driver has of the program. */
export interface DriverHost extends ProbeHost {
  /** The inbound door. Resolves once the message is stored; only then may the carrier be thanked. */
  receive(message: Inbound): Promise<void>
  /** The carrier was thanked for a message without an id, given as it was received: an equal one is another one. */
  thanked(message: Inbound): Promise<void>
  /** Status news, early, late, doubled or out of order: the host sorts it out. */
  receipt(receipt: Receipt): Promise<void>
  /** The person has read our message. Telling the same twice does no harm. */
  read(receipt: { providerId: string; at: number }): Promise<void>
  /** The person starts or stops typing. Telling the same twice does no harm. */
  typing(news: { from: string; isTyping: boolean }): Promise<void>
  /** A group chat was made or changed on the other side. Telling the same twice does no harm. */
  group(news: GroupNews): Promise<void>
  /** Somebody's place, or whether they share it, has changed. */
  locationsChanged(): void
  /** Connection trouble is a state, not an exception. */
  state(state: LineState, detail?: string): void
  /** The carrier lets this line send nothing any more. Telling it twice does no harm. */
  blocked(detail: string): void
  /** How far the driver has read at the carrier, in its own words. Survives restarts, and goes with the line. */
  cursor: { load(): Promise<string | null>; save(value: string): Promise<void> }
  /** Opens the media of a message to be sent. */
  media(url: string): Promise<MediaBytes>
  /**
   * Sends of the last day whose end is not known, newest first: in doubt, or taken by the carrier and not heard of
   * since. For a driver that starts, to ask about them. With `unread`, also what was delivered and not read.
   */
  openSends(options?: { unread?: boolean }): Promise<OpenSend[]>
  /** Which of these carrier's ids belong to sends of this line: they are no answer to another one. */
  knownSends(providerIds: readonly string[]): Promise<string[]>
  /** An address at which the carrier reaches this line's `callback`. Empty when nobody outside can reach us. */
  callbackUrl(): string
}

/** What is there even before a line is. */
export interface ProbeHost {
  /** HTTP to a server that whoever administers the line has named, and to nobody else: redirects are answers. */
  http(base: string): LineHttp
  clock: DriverClock
  log: { info(fields: object, text: string): void; warn(fields: object, text: string): void }
}

export interface DriverClock {
  now(): number
  /** Calls `fn` after that time; the answer cancels it. */
  after(ms: number, fn: () => void): () => void
}

export interface LineHttp {
  /** Reads the whole answer. Without one it is a NoAnswer (core/no-answer.ts). */
  request(ask: HttpAsk): Promise<HttpAnswer>
  /** The same, with the body as it comes. */
  open(ask: HttpAsk): Promise<{ status: number; headers: HttpHeaders; body: AsyncIterable<Buffer> }>
}

export interface HttpAsk {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the base, with the query. */
  path: string
  headers?: Record<string, string>
  body?: string | Buffer | AsyncIterable<Buffer>
  /** For everything, from the name to the last byte. */
  timeoutMs: number
  /** More than that is no answer; default 10 MB. */
  maxBytes?: number
}

export type HttpHeaders = Record<string, string | string[] | undefined>

export interface HttpAnswer {
  status: number
  headers: HttpHeaders
  body: Buffer
}
