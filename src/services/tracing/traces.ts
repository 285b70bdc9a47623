import type { Message, NewMessage } from '../../core/messages/message.js'
import type { SendResult } from '../../core/messages/outcome.js'
import type { Attempt } from '../../storage/messages/attempts.js'
import type { Change } from '../../storage/messages/messages.js'
import type { Delivery } from '../../storage/webhooks/deliveries.js'

/** Events of a message's life, as one trace. Spans have ids and statuses; never a text, a number or a URL. */
export interface Traces {
  accepted(message: NewMessage, from: number): void
  received(message: NewMessage, from: number): void
  /** A send that has an answer. `wire` is when it left and when the carrier answered. */
  attempted(send: TracedSend, result: SendResult, driver: string, wire: { from: number; to: number }): void
  /** Changes by receipts; `answered` has the messages as the answers that came with them left them. */
  receipts(changes: readonly Change[], answered?: readonly Message[]): void
  /** Begins the post of a webhook: the header it takes along, and what to call with the receiver's status. */
  posting(delivery: Delivery): Promise<Posting | undefined>
  stop(): Promise<void>
}

interface TracedSend {
  message: NewMessage
  attempt: Attempt
}

interface Posting {
  traceparent: string
  ended(httpStatus: number | null): void
}
