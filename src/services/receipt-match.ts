import type { Receipt } from '../core/outcome.js'
import { partAfter, wholeReceipt } from '../core/part.js'
import { isSameSubscriber } from '../core/phone.js'
import { type AttemptPart, findPartRefs, listAttemptParts } from '../storage/attempt-parts.js'
import { type Attempt, findAttemptsByProvider, findAttemptsByRef } from '../storage/attempts.js'
import type { Sql } from '../storage/db.js'

/** A receipt with the send it is about. */
export interface Match {
  receipt: Receipt
  attempt: Attempt
  /** It goes by another spelling of the id: then the number must agree. */
  isLoose: boolean
  /** The id is one of a part. */
  partId?: string
}

/** Finds the sends that receipts are about, by the carrier's id, by another spelling of it, or by our ref. */
export async function matchReceipts(
  sql: Sql,
  lineId: string,
  receipts: readonly Receipt[],
  remembered: ReadonlyMap<string, Attempt>,
): Promise<{ matched: Match[]; unmatched: Receipt[] }> {
  const asked = receipts.filter(({ providerId }) => !providerId || !remembered.has(providerId))
  const [found, byRef] = await Promise.all([
    findAttemptsByProvider(sql, lineId, asked.flatMap(idsOf)),
    findAttemptsByRef(
      sql,
      asked.flatMap((receipt) => receipt.ref ?? []),
    ),
  ])
  const byProvider = new Map([...found, ...remembered])
  const matched: Match[] = []
  const rest: Receipt[] = []
  for (const receipt of receipts) {
    const exact = receipt.providerId && byProvider.get(receipt.providerId)
    if (exact) matched.push({ receipt, attempt: exact, isLoose: false })
    else rest.push(receipt)
  }
  if (rest.length === 0) return { matched, unmatched: [] }
  const refs = await findPartRefs(sql, lineId, rest.flatMap(idsOf))
  const attempts = await findAttemptsByRef(sql, [...new Set(refs.values())])
  const unmatched: Receipt[] = []
  for (const receipt of rest) {
    const match = idsOf(receipt)
      .map((id): Match | undefined => {
        const isLoose = id !== receipt.providerId
        const part = attempts.get(refs.get(id) ?? '')
        if (part) return { receipt, attempt: part, isLoose, partId: id }
        const whole = byProvider.get(id)
        return whole && { receipt, attempt: whole, isLoose }
      })
      .find((one) => one !== undefined)
    // A driver may give a ref for want of anything better: an id that is known says more.
    const own = receipt.ref ? byRef.get(receipt.ref) : undefined
    if (match) matched.push(match)
    else if (own?.lineId === lineId) matched.push({ receipt, attempt: own, isLoose: false })
    else unmatched.push(receipt)
  }
  return { matched, unmatched }
}

/** Every spelling of a receipt's id, the carrier's own first. */
export function idsOf({ providerId, otherIds = [] }: Receipt): string[] {
  return providerId ? [providerId, ...otherIds] : []
}

/** Whether a receipt can be about a message to this number. */
export function mayConcern(receipt: Receipt, contact: string): boolean {
  return receipt.to === undefined || contact === '' || isSameSubscriber(receipt.to, contact)
}

/** Receipts about parts become what they say of the whole; `changed` is to be saved. */
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
