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

/**
 * Whether another send without an answer has the same text and recipient at about the same time: one message at the
 * carrier cannot tell which of them it is.
 */
export function hasTwin(
  open: readonly OpenSend[],
  { ref, to, content, wireAt }: Pick<OpenSend, 'ref' | 'to' | 'content' | 'wireAt'>,
  withinMs: number,
): boolean {
  return open.some(
    (one) =>
      one.providerId === null &&
      one.ref !== ref &&
      one.to === to &&
      one.content === content &&
      Math.abs(one.wireAt - wireAt) < withinMs,
  )
}
