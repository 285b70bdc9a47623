import type { CallNews, CallRoute } from '../core/calls/carrier-call.js'
import type { LineState } from '../core/lines/line.js'
import type { OpenSend } from '../core/messages/open-send.js'
import type { Receipt } from '../core/messages/outcome.js'
import type { GroupNews, Inbound, MediaBytes } from './inbound.js'

/** Everything of the program that a driver can use. */
export interface DriverHost extends ProbeHost {
  /**
   * Accepts an inbound message. Resolves once the message is stored; only then may the driver acknowledge it to the
   * carrier.
   */
  receive(message: Inbound): Promise<void>
  /**
   * The driver acknowledged a message that has no id. Takes the object given to `receive`. An equal message that
   * arrives later is a new message, not a redelivery.
   */
  acknowledged(message: Inbound): Promise<void>
  /** Reports a status. The host handles receipts that are early, late, repeated or out of order. */
  receipt(receipt: Receipt): Promise<void>
  /** The recipient read a message of ours. Repeating the report is harmless. */
  read(receipt: { providerId: string; at: number }): Promise<void>
  /** A person starts or stops typing. Repeating the report is harmless. */
  typing(news: { from: string; isTyping: boolean }): Promise<void>
  /** A group chat was created or changed at the carrier. Repeating the report is harmless. */
  group(news: GroupNews): Promise<void>
  /**
   * A call to the line at the carrier: it rings, was answered or has ended. Resolves once the report is stored, with
   * the phone to forward the call to; null rejects it. The host handles reports that are early, late, repeated or out of
   * order. A call whose first report is its end was missed: it is stored with its outcome.
   */
  call(news: CallNews): Promise<CallRoute>
  /** A shared location changed, or somebody started or stopped sharing. */
  locationsChanged(): void
  /** Reports the connection's state; connection trouble is a state, not an exception. */
  state(state: LineState, detail?: string): void
  /**
   * The carrier sends this person nothing more from this line, because they opted out there. Repeating the report is
   * harmless.
   */
  optedOut(news: { number: string }): Promise<void>
  /** The carrier blocked this line from sending. Repeating the report is harmless. */
  blocked(detail: string): void
  /**
   * The driver's read position at the carrier, in a format of its own. Survives restarts; deleted with the line. Of
   * several saves the last call counts.
   */
  cursor: { load(): Promise<string | null>; save(value: string): Promise<void> }
  /** Opens the media of an outbound message; with `only`, refuses a file of another kind. */
  media(url: string, only?: 'image'): Promise<MediaBytes>
  /**
   * Sends of the last 24 hours without a final status, newest first: in doubt, or accepted by the carrier without a
   * later receipt. A driver that starts asks the carrier about them. `unread` adds sends that were delivered but
   * not read.
   */
  openSends(options?: { unread?: boolean }): Promise<OpenSend[]>
  /**
   * Receipts of the last 24 hours with `evidence` whose send is not known. A driver that starts names the sends it
   * recognises in another `receipt`: the process before may have ended between a receipt and the answer to its send.
   */
  parkedReceipts(): Promise<Receipt[]>
  /**
   * Returns the provider ids that already belong to sends of this line, and so cannot be the outcome of another
   * attempt.
   */
  knownSends(providerIds: readonly string[]): Promise<string[]>
  /** Tells the phone that is paired with this line to ask for texts. The hint may get lost. */
  ring(): void
  /** URL at which the carrier reaches this line's `callback`; empty if the server has no public URL. */
  callbackUrl(): string
}

/** The part of the host that exists before a line does. */
export interface ProbeHost {
  /**
   * HTTP to the server that the line's administrator configured, and to no other: redirects are returned, not
   * followed.
   */
  http(base: string): LineHttp
  clock: DriverClock
  log: { info(fields: object, text: string): void; warn(fields: object, text: string): void }
}

export interface DriverClock {
  now(): number
  /** Calls `fn` after `ms` milliseconds; returns a function that cancels the call. */
  after(ms: number, fn: () => void): () => void
}

export interface LineHttp {
  /** Reads the whole response. Throws NoAnswer (core/lines/no-answer.ts) if there is none. */
  request(ask: HttpAsk): Promise<HttpAnswer>
  /** Like `request`, but streams the body. */
  open(ask: HttpAsk): Promise<{ status: number; headers: HttpHeaders; body: AsyncIterable<Buffer> }>
}

export interface HttpAsk {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path below the base URL, with the query string. */
  path: string
  headers?: Record<string, string>
  body?: string | Buffer | AsyncIterable<Buffer>
  /** Covers the whole exchange, from name resolution to the last byte. */
  timeoutMs: number
  /** A larger body counts as no answer; default 10 MB. */
  maxBytes?: number
}

export type HttpHeaders = Record<string, string | string[] | undefined>

export interface HttpAnswer {
  status: number
  headers: HttpHeaders
  body: Buffer
}
