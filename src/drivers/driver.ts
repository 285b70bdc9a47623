import type { TSchema } from 'typebox'
import type { Capabilities, Line, LineState } from '../core/line.js'
import type { SendStyle, Service } from '../core/message.js'
import type { Evidence, Receipt, SendResult } from '../core/outcome.js'

/**
 * What Trunkline asks of a carrier. A driver knows one carrier and nothing else of the program: it gets a line's
 * settings and a host, and hands back a connection. The presence of an optional method is the ability.
 */
export interface Driver {
  kind: string
  /** Validates a line's settings. */
  config: TSchema
  capabilities(config: Record<string, unknown>): Capabilities
  connect(line: Line, host: DriverHost): Promise<Connection>
}

export interface Connection {
  /**
   * Puts one message on the wire. Never throws for trouble of the carrier: it says what is known of the outcome.
   * A throw, or no answer within `timeoutMs` of the host, counts as unknown.
   */
  send(message: Outbound): Promise<SendResult>
  /** No sends follow; what is under way may finish. */
  close(): Promise<void>
  /** Asks the carrier what became of an attempt. */
  lookup?(attempt: AttemptRef): Promise<Evidence>
  /** The services the carrier can reach this number by, when it knows before sending. */
  availability?(number: string): Promise<readonly Service[]>
}

export interface Outbound {
  /** Our random name of this attempt: whatever the carrier can carry back to us. */
  ref: string
  handle: string
  to: string
  service: Service
  content: string
  mediaUrl: string
  sendStyle: SendStyle | ''
  /** The carrier's id of the message this one answers. */
  replyTo: { providerId: string; partIndex: number } | null
}

export interface AttemptRef {
  ref: string
  to: string
  content: string
  service: Service
  wireAt: number
}

export interface Inbound {
  providerId: string
  from: string
  service: Service
  content: string
  mediaUrl?: string
  sentAt: number
  /** The carrier's id of the message this one answers. */
  replyTo?: { providerId: string; partIndex?: number }
}

export interface DriverHost {
  /** The inbound door. Resolves once the message is stored; only then may the carrier be thanked. */
  receive(message: Inbound): Promise<void>
  /** Status news, early, late, doubled or out of order: the host sorts it out. */
  receipt(receipt: Receipt): Promise<void>
  /** The person has read our message. */
  read(receipt: { providerId: string; at: number }): Promise<void>
  /** Connection trouble is a state, not an exception. */
  state(state: LineState, detail?: string): void
  clock: DriverClock
  log: { info(fields: object, text: string): void; warn(fields: object, text: string): void }
}

export interface DriverClock {
  now(): number
  /** Calls `fn` after that time; the answer cancels it. */
  after(ms: number, fn: () => void): () => void
}
