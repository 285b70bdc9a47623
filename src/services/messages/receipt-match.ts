import type { Receipt } from '../../core/messages/outcome.js'
import { partAfter, wholeReceipt } from '../../core/messages/part.js'
import { isSameSubscriber } from '../../core/phone-number.js'
import type { Sql } from '../../storage/engine/db.js'
import { type AttemptPart, findPartRefs, listAttemptParts } from '../../storage/messages/attempt-parts.js'
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
    if (own?.lineId === lineId) sends.push({ receipt, attempt: own, isLoose: false })
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

/** Turns receipts about parts into receipts about the whole send; the caller saves `changed`. */
export async function overParts(sql: Sql, matches: readonly Match[]) {
  const refs = matches.flatMap(({ partId, attempt }) => (partId === undefined ? [] : attempt.ref))
  const parts = await listAttemptParts(sql, [...new Set(refs)])
  const changed = new Map<string, AttemptPart>()
  const whole = matches.map((match) => {
    const all = match.partId === undefined ? undefined : parts.get(match.attempt.ref)
    const index = all?.findIndex((part) => part.providerId === match.partId) ?? -1
    if (!all || index < 0) return match
    const after = partAfter(all[index]!, match.receipt)
    all[index] = after
    changed.set(`${after.ref} ${after.n}`, after)
    return { ...match, receipt: wholeReceipt(all, match.receipt.at) }
  })
  return { matches: whole, changed: [...changed.values()] }
}
