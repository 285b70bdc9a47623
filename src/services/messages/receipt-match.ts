import type { Receipt, TakenParts } from '../../core/messages/outcome.js'
import { describeTaken, partAfter, wholeReceipt } from '../../core/messages/part.js'
import { isSameSubscriber } from '../../core/phone-number.js'
import type { Sql } from '../../storage/engine/db.js'
import {
  type AttemptPart,
  findPartRefs,
  insertAttemptParts,
  listAttemptParts,
  saveAttemptParts,
} from '../../storage/messages/attempt-parts.js'
import { type Attempt, findAttemptsByProvider, findAttemptsByRef } from '../../storage/messages/attempts.js'

/** A receipt with the send it is about. */
export interface Match {
  receipt: Receipt
  attempt: Attempt
  /** Found by another spelling of the id: then the number must agree. */
  isLoose: boolean
  /** The id names one part of the send. */
  partId?: string
}

/** A receipt with the sends it may be about, the likeliest first. */
export interface Candidates {
  receipt: Receipt
  sends: Match[]
}

/** Finds the sends of receipts: by the carrier's id, by another spelling of the id, or by our ref. */
export async function findCandidates(
  sql: Sql,
  lineId: string,
  receipts: readonly Receipt[],
): Promise<Candidates[]> {
  if (receipts.length === 0) return []
  const ids = receipts.flatMap(idsOf)
  const [whole, byRef, parts] = await Promise.all([
    findAttemptsByProvider(sql, lineId, ids),
    findAttemptsByRef(
      sql,
      receipts.flatMap((receipt) => receipt.ref ?? []),
    ),
    findPartRefs(sql, lineId, ids),
  ])
  const ofParts = await findAttemptsByRef(sql, [...new Set(parts.values())])
  return receipts.map((receipt) => {
    const sends = idsOf(receipt).flatMap((id): Match[] => {
      const isLoose = id !== receipt.providerId
      const part = ofParts.get(parts.get(id) ?? '')
      const attempt = whole.get(id)
      return [
        ...(part ? [{ receipt, attempt: part, isLoose, partId: id }] : []),
        ...(attempt ? [{ receipt, attempt, isLoose }] : []),
      ]
    })
    // A driver gives a ref if it has no id: a known id says more.
    const own = receipt.ref ? byRef.get(receipt.ref) : undefined
    if (own?.lineId === lineId) {
      const part = receipt.parts === undefined ? {} : { partId: receipt.providerId ?? '' }
      sends.push({ receipt, attempt: own, isLoose: false, ...part })
    }
    return { receipt, sends }
  })
}

/**
 * The send of a receipt. If two sends fit by different spellings of the id, the number decides. Some carriers put
 * something else in the number's place: then the exact id is enough.
 */
export function chosen(
  { receipt, sends }: Candidates,
  contactOf: (messageId: number) => string,
): Match | undefined {
  const fits = ({ attempt }: Match) => mayConcern(receipt, contactOf(attempt.messageId))
  return sends.find(fits) ?? sends.find(({ isLoose }) => !isLoose)
}

/** Every spelling of a receipt's id, the carrier's own first. */
export function idsOf({ providerId, otherIds = [] }: Receipt): string[] {
  return providerId ? [providerId, ...otherIds] : []
}

/** Whether a receipt can be about a message to this number. */
export function mayConcern(receipt: Receipt, contact: string): boolean {
  return receipt.to === undefined || contact === '' || isSameSubscriber(receipt.to, contact)
}

/**
 * Turns receipts about parts into receipts about the whole send. `partial` has the sends of which the carrier is not
 * known to have all parts. The caller saves `added`, then `changed`.
 */
export async function overParts(sql: Sql, matches: readonly Match[]) {
  const refs = matches.flatMap(({ partId, attempt }) => (partId === undefined ? [] : attempt.ref))
  const parts = await listAttemptParts(sql, [...new Set(refs)])
  const added: AttemptPart[] = []
  const changed = new Map<string, AttemptPart>()
  const partial: { attempt: Attempt; taken: string }[] = []
  const whole = matches.flatMap((match): Match | [] => {
    const { attempt, receipt, partId } = match
    if (partId === undefined) return match
    let all = parts.get(attempt.ref)
    if (!all && receipt.parts !== undefined) {
      all = pendingParts(attempt.ref, receipt.parts)
      added.push(...all)
      parts.set(attempt.ref, all)
    }
    const index = all ? placeOf(all, partId, receipt.parts !== undefined) : -1
    // Without an id, or with more ids than parts, it is not known which part the receipt is about.
    if (!all || index < 0) return receipt.parts === undefined || receipt.status === 'ERROR' ? match : []
    const after = partAfter({ ...all[index]!, providerId: partId }, receipt)
    all[index] = after
    changed.set(`${after.ref} ${after.n}`, after)
    const overall = wholeReceipt(all, receipt.at, receipt.parts === undefined)
    if (overall) return { ...match, receipt: overall }
    partial.push({ attempt, taken: describeTaken(all) })
    return []
  })
  return { matches: whole, added, changed: [...changed.values()], partial }
}

/** Stores the parts of a send in doubt that the carrier has for certain. The caller holds the message's lock. */
export async function saveTaken(sql: Sql, { ref, lineId }: Attempt, { ids, of }: TakenParts): Promise<void> {
  const known = (await listAttemptParts(sql, [ref])).get(ref)
  const parts = known ?? pendingParts(ref, of)
  for (const id of ids) {
    const index = id === '' ? parts.findIndex(({ status }) => status === 'PENDING') : placeOf(parts, id, true)
    const part = parts[index]
    if (part?.status === 'PENDING') parts[index] = { ...part, providerId: id, status: 'SENT' }
  }
  if (known) await saveAttemptParts(sql, parts)
  else await insertAttemptParts(sql, lineId, parts)
}

/** The part with this id; otherwise, with `mayName`, the first part without one. */
function placeOf(parts: readonly AttemptPart[], id: string, mayName: boolean): number {
  const index = id === '' ? -1 : parts.findIndex((part) => part.providerId === id)
  return index >= 0 || !mayName || id === '' ? index : parts.findIndex((part) => part.providerId === '')
}

function pendingParts(ref: string, of: number): AttemptPart[] {
  return Array.from({ length: of }, (_, i) => ({
    ref,
    n: i + 1,
    providerId: '',
    status: 'PENDING' as const,
    detail: null,
  }))
}
