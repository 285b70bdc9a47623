import type { Service } from '../messages/message.js'
import type { Receipt } from '../messages/outcome.js'

/** A carrier's word about a message of ours. */
export interface Progress {
  status: 'ACCEPTED' | 'SENT' | 'DELIVERED' | 'ERROR' | 'DECLINED'
  /** Of a failure. */
  code?: string
  detail?: string
  /** The service used, if the carrier names it. */
  service?: Service
  /** Of a failure: the recipient is not on this service, and did not get the message. */
  tryNextService?: boolean
  /** The carrier will say nothing more, although the status could change. */
  isLast?: boolean
}

export function isFinal({ status, isLast = false }: Progress): boolean {
  return isLast || (status !== 'ACCEPTED' && status !== 'SENT')
}

export function receiptOf(providerId: string, { isLast: _, ...progress }: Progress, at: number): Receipt {
  return { providerId, at, ...progress }
}
