import type { Service } from './message.js'

/** A send without a final status. */
export interface OpenSend {
  ref: string
  /** Null while the carrier's answer is missing. */
  providerId: string | null
  /** Ids of all parts, if the carrier split the send. */
  partIds?: readonly string[]
  to: string
  content: string
  service: Service
  wireAt: number
  isDelivered: boolean
}
