import type { DeliveryReport } from './codec/receipt-text.js'
import { shortRef } from './codec/short-ref.js'

/** A send whose id at the carrier we do not know (yet). */
export interface Doubt {
  ref: string
  to: string
  content: string
  wireAt: number
  parts: number
}

/** Whose report it is, and what it proves of the whole message. */
export interface Proof {
  ref: string
  status: NonNullable<DeliveryReport['status']>
  /** By our own number, which the carrier handed back; otherwise by what fits nothing else. */
  isCertain: boolean
}

/**
 * Sends that the carrier did not answer, and may still report on. It remembers them for a day, and only so many.
 */
export interface Doubts {
  /** It goes out now: what is reported meanwhile may be about it. */
  begin(doubt: Doubt): void
  /** A part of it is submitted now: it may have waited long for its turn. */
  leaves(ref: string): void
  /** The carrier answered it: its reports have ids that the host knows. */
  settle(ref: string): void
  /** It ended without an answer. The reports that came meanwhile and may be about it. */
  leave(ref: string): { report: DeliveryReport; to: string; proof: Proof }[]
  /** What a report proves of a send in doubt. */
  judge(report: DeliveryReport, to: string): Proof | undefined
}

const MAX_DOUBTS = 10_000
const MAX_EARLY = 300
const MEMORY_MS = 24 * 3_600_000
/** Zones differ from each other by quarters of an hour, clocks of carriers from ours by little. */
const ZONE_MS = 15 * 60_000
const SKEW_MS = 2 * 60_000

interface Entry {
  doubt: Doubt
  /** From when to when its parts were submitted. */
  left?: { from: number; to: number }
  isOpen: boolean
  early: { report: DeliveryReport; to: string }[]
  /** Ids of the parts that arrived. */
  delivered: string[]
}

export function createDoubts(now: () => number): Doubts {
  const byNumber = new Map<string, Entry[]>()
  const all = new Map<string, Entry>()

  function remove(entry: Entry) {
    const { ref, to } = entry.doubt
    all.delete(ref)
    const same = byNumber.get(to)
    if (!same) return
    if (same.length === 1) byNumber.delete(to)
    else same.splice(same.indexOf(entry), 1)
  }

  /** Oldest first, as they were added. */
  function forget() {
    for (const entry of all.values()) {
      if (all.size <= MAX_DOUBTS && entry.doubt.wireAt > now() - MEMORY_MS) return
      remove(entry)
    }
  }

  function find(report: DeliveryReport, to: string): { entry: Entry; isCertain: boolean } | undefined {
    const same = byNumber.get(to) ?? []
    if (report.ref !== undefined) {
      const own = same.filter(({ doubt }) => shortRef(doubt.ref) === report.ref)
      return own.length === 1 ? { entry: own[0]!, isCertain: true } : undefined
    }
    const fitting = same.filter((entry) => fits(entry, report))
    return fitting.length === 1 ? { entry: fitting[0]!, isCertain: false } : undefined
  }

  function prove(entry: Entry, report: DeliveryReport, isCertain: boolean): Proof | undefined {
    if (!report.status) return undefined
    const { doubt, delivered } = entry
    if (report.status === 'DELIVERED' && !delivered.includes(report.id)) delivered.push(report.id)
    // One part that arrived proves that the message left, and no more.
    const isPartial = report.status === 'DELIVERED' && delivered.length < doubt.parts
    return { ref: doubt.ref, status: isPartial ? 'SENT' : report.status, isCertain }
  }

  return {
    begin(doubt) {
      const entry: Entry = { doubt, isOpen: false, early: [], delivered: [] }
      all.set(doubt.ref, entry)
      const same = byNumber.get(doubt.to)
      if (same) same.push(entry)
      else byNumber.set(doubt.to, [entry])
      forget()
    },
    leaves(ref) {
      const entry = all.get(ref)
      if (entry) entry.left = { from: entry.left?.from ?? now(), to: now() }
    },
    settle(ref) {
      const entry = all.get(ref)
      if (entry) remove(entry)
    },
    leave(ref) {
      const entry = all.get(ref)
      if (!entry) return []
      entry.isOpen = true
      return entry.early.splice(0).flatMap(({ report, to }) => {
        const proof = prove(entry, report, report.ref !== undefined)
        return proof ? { report, to, proof } : []
      })
    },
    judge(report, to) {
      forget()
      const found = find(report, to)
      if (!found) return undefined
      const { entry, isCertain } = found
      if (entry.isOpen) return prove(entry, report, isCertain)
      // Its answer is still to come, as a rule, and then the host knows the report by its id.
      if (entry.early.length < MAX_EARLY) entry.early.push({ report, to })
      return undefined
    },
  }
}

/** Whether a report without our number may be about this send: something in it must speak for that, nothing against. */
function fits({ doubt, left }: Entry, { text, submittedAt }: DeliveryReport): boolean {
  const begins = text.trim()
  if (begins === '' && submittedAt === undefined) return false
  if (begins !== '' && !doubt.content.trim().startsWith(begins)) return false
  if (submittedAt === undefined) return true
  const { from, to } = left ?? { from: doubt.wireAt, to: doubt.wireAt }
  const after = submittedAt - from
  const offZone = ((after % ZONE_MS) + ZONE_MS) % ZONE_MS
  const isThen = offZone <= to - from + SKEW_MS || offZone >= ZONE_MS - SKEW_MS
  return Math.abs(after) <= MEMORY_MS && isThen
}
