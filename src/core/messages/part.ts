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
  /** Empty until the carrier names the part. */
  providerId: string
  /** PENDING: the send is in doubt, and this part may never have left. */
  status: Receipt['status'] | 'PENDING'
  detail: string | null
}

/** The part after its receipt; an older status changes nothing. */
export function partAfter<P extends Part>(part: P, receipt: Receipt): P {
  if (part.status === 'DELIVERED' || isFailure(part.status) || RANK[receipt.status] <= RANK[part.status])
    return part
  const detail = receipt.code ? `${receipt.code}: ${receipt.detail ?? ''}` : (receipt.detail ?? null)
  return { ...part, status: receipt.status, detail }
}

/**
 * The status of the whole message: delivered if all parts are, failed if one is, undefined while a part may never have
 * left. `isPlaced`: the number of a part is its place in the text.
 */
export function wholeReceipt(parts: readonly Part[], at: number, isPlaced = true): Receipt | undefined {
  const lost = parts.find((part) => isFailure(part.status))
  if (lost) {
    const which = isPlaced ? `Part ${lost.n} of ${parts.length}` : `One of ${parts.length} parts`
    return {
      status: lost.status as 'ERROR' | 'DECLINED',
      at,
      detail: `${which}${lost.detail ? `: ${lost.detail}` : ''}`,
    }
  }
  const least = parts.reduce((a, b) => (RANK[b.status] < RANK[a.status] ? b : a))
  return least.status === 'PENDING' ? undefined : { status: least.status, at }
}

/** Says how many parts the carrier is known to have. */
export function describeTaken(parts: readonly Pick<Part, 'status'>[]): string {
  return `${parts.filter(({ status }) => status !== 'PENDING').length} of ${parts.length} parts taken`
}

function isFailure(status: Part['status']): boolean {
  return status === 'ERROR' || status === 'DECLINED'
}
