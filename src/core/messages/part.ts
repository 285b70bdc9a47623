import { type NewMessage, RANK } from './message.js'
import type { Receipt } from './outcome.js'

/**
 * Number of parts of a message that are known: each file, then the text. A further file of an inbound message is a
 * message of its own.
 */
export function knownParts({
  content,
  mediaUrl,
  extra,
}: Pick<NewMessage, 'content' | 'mediaUrl' | 'extra'>): number {
  const files = extra?.mediaUrls?.length ?? (mediaUrl === '' ? 0 : 1)
  return Math.max(1, files + (content === '' ? 0 : 1))
}

/** One part of a send that the carrier split. */
export interface Part {
  n: number
  providerId: string
  status: Receipt['status']
  detail: string | null
}

/** The part after its receipt; an older status changes nothing. */
export function partAfter<P extends Part>(part: P, receipt: Receipt): P {
  if (part.status === 'DELIVERED' || isFailure(part.status) || RANK[receipt.status] <= RANK[part.status])
    return part
  const detail = receipt.code ? `${receipt.code}: ${receipt.detail ?? ''}` : (receipt.detail ?? null)
  return { ...part, status: receipt.status, detail }
}

/** The status of the whole message: delivered if all parts are, failed if one is. */
export function wholeReceipt(parts: readonly Part[], at: number): Receipt {
  const lost = parts.find((part) => isFailure(part.status))
  if (lost) {
    const detail = `Part ${lost.n} of ${parts.length}${lost.detail ? `: ${lost.detail}` : ''}`
    return { status: lost.status, at, detail }
  }
  const least = parts.reduce((a, b) => (RANK[b.status] < RANK[a.status] ? b : a))
  return { status: least.status, at }
}

function isFailure(status: Receipt['status']): boolean {
  return status === 'ERROR' || status === 'DECLINED'
}
