import type { DeliveryReport } from './codec/receipt-text.js'
import { shortRef } from './codec/short-ref.js'

/** A send whose provider id is not known (yet). */
export interface Doubt {
  ref: string
  to: string
  content: string
  wireAt: number
  parts: number
}

/** The send that a report belongs to. A report on one of several parts proves nothing about the other parts. */
export type Proof = Pick<Doubt, 'ref' | 'parts'>

/** Sends that the carrier did not answer but may still report on. Kept for 24 hours, at most MAX_DOUBTS of them. */
export interface Doubts {
  /** The send starts; reports from now on may belong to it. */
  begin(doubt: Doubt): void
  /** A part is submitted now; it may have waited long since `begin`. */
  markSubmitted(ref: string): void
  /** The carrier answered the send, so the host matches its reports by id. */
  settle(ref: string): void
  /** The send ended without an answer. Returns the early reports that belong to it. */
  keepOpen(ref: string): { report: DeliveryReport; to: string; proof: Proof }[]
  /** Whether a send has ended without an answer. */
  hasOpen(): boolean
  /** Matches a report to a send in doubt. */
  judge(report: DeliveryReport, to: string): Proof | undefined
}

const MAX_DOUBTS = 10_000
const MAX_EARLY = 300
const MEMORY_MS = 24 * 3_600_000
/** Receipts give local time without a zone, and zones differ by multiples of 15 minutes. */
const ZONE_MS = 15 * 60_000
const SKEW_MS = 2 * 60_000

interface Entry {
  doubt: Doubt
  /** When the first and the last part were submitted. */
  left?: { from: number; to: number }
  isOpen: boolean
  early: { report: DeliveryReport; to: string }[]
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

  /** Removes the oldest; the map is in insertion order. */
  function forget() {
    for (const entry of all.values()) {
      if (all.size <= MAX_DOUBTS && entry.doubt.wireAt > now() - MEMORY_MS) return
      remove(entry)
    }
  }

  function find(report: DeliveryReport, to: string): Entry | undefined {
    const isOwn = ({ doubt }: Entry) => shortRef(doubt.ref) === report.ref
    const fitting = (byNumber.get(to) ?? []).filter((entry) =>
      report.ref === undefined ? fits(entry, report) : isOwn(entry),
    )
    return fitting.length === 1 ? fitting[0] : undefined
  }

  const prove = ({ doubt: { ref, parts } }: Entry): Proof => ({ ref, parts })

  return {
    begin(doubt) {
      const entry: Entry = { doubt, isOpen: false, early: [] }
      all.set(doubt.ref, entry)
      const same = byNumber.get(doubt.to)
      if (same) same.push(entry)
      else byNumber.set(doubt.to, [entry])
      forget()
    },
    markSubmitted(ref) {
      const entry = all.get(ref)
      if (entry) entry.left = { from: entry.left?.from ?? now(), to: now() }
    },
    settle(ref) {
      const entry = all.get(ref)
      if (entry) remove(entry)
    },
    keepOpen(ref) {
      const entry = all.get(ref)
      if (!entry) return []
      entry.isOpen = true
      return entry.early.splice(0).map((one) => ({ ...one, proof: prove(entry) }))
    },
    hasOpen() {
      forget()
      for (const { isOpen } of all.values()) if (isOpen) return true
      return false
    },
    judge(report, to) {
      forget()
      const entry = find(report, to)
      if (!entry) return undefined
      if (entry.isOpen) return prove(entry)
      // The answer usually still arrives, and the host then matches the report by id.
      if (entry.early.length < MAX_EARLY) entry.early.push({ report, to })
      return undefined
    },
  }
}

/**
 * Whether a report without our reference may belong to this send: at least one field must match, and none may
 * contradict.
 */
function fits({ doubt, left }: Entry, { text, submittedAt }: DeliveryReport): boolean {
  const beginning = text.trim()
  if (beginning === '' && submittedAt === undefined) return false
  if (beginning !== '' && !doubt.content.trim().startsWith(beginning)) return false
  if (submittedAt === undefined) return true
  const { from, to } = left ?? { from: doubt.wireAt, to: doubt.wireAt }
  const after = submittedAt - from
  const offZone = ((after % ZONE_MS) + ZONE_MS) % ZONE_MS
  const isSameTime = offZone <= to - from + SKEW_MS || offZone >= ZONE_MS - SKEW_MS
  return Math.abs(after) <= MEMORY_MS && isSameTime
}
