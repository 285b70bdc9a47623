import type { Receipt } from '../messages/outcome.js'
import { createComplaint } from './complaint.js'
import { isFinal, type Progress, receiptOf } from './progress.js'

export interface Following {
  /**
   * Asks about a message until its status is final, in case its webhooks get lost. `isLate`: some may have been lost
   * already.
   */
  follow(id: string, since: number, isLate?: boolean): void
  /** A webhook told this about a message. */
  told(id: string, progress: Progress): void
  close(): void
}

interface FollowingOptions {
  /** Asks the carrier; undefined for a status that is not known. */
  ask(id: string): Promise<Progress | 'gone' | undefined>
  /** Time until the first question, which then comes again whenever the message is twice as old. */
  firstMs(): number
  onNews(progress: Progress): void
  /** Called for the first failure of several in a row. */
  tell(error: unknown): void
  receipt(receipt: Receipt): Promise<void>
  clock: { now(): number; after(ms: number, fn: () => void): () => void }
}

interface Followed {
  since: number
  dueAt: number
  status: Progress['status']
}

const MOST_FOLLOWED = 10_000
const MOST_MS = 6 * 3_600_000
const LIFE_MS = 24 * 3_600_000
const AT_ONCE = 20
const LATE_MS = 5000
/** If the carrier gives no answer, it is left alone for this time, however many messages are open. */
const REST_MS = 15_000

/** Statuses of sent messages that no webhook has told. */
export function createFollowing({ ask, firstMs, onNews, tell, receipt, clock }: FollowingOptions): Following {
  const open = new Map<string, Followed>()
  let isClosed = false
  let isAsking = false
  let nextAt = Number.POSITIVE_INFINITY
  let restsUntil = 0
  let cancel = () => {}
  const complaint = createComplaint(tell)

  function planFor(dueAt: number) {
    if (isClosed || isAsking || dueAt >= nextAt) return
    cancel()
    nextAt = Math.max(dueAt, restsUntil)
    cancel = clock.after(Math.max(0, nextAt - clock.now()), () => void askAll())
  }

  async function askAll() {
    isAsking = true
    nextAt = Number.POSITIVE_INFINITY
    const now = clock.now()
    const due: [string, Followed][] = []
    for (const entry of open) {
      if (entry[1].dueAt <= now) due.push(entry)
      if (due.length === AT_ONCE) break
    }
    try {
      for (const [id, one] of due) {
        if (isClosed) break
        one.dueAt = now + Math.min(MOST_MS, Math.max(firstMs(), now - one.since))
        await askFor(id, one)
      }
      complaint.over()
    } catch (error) {
      restsUntil = clock.now() + REST_MS
      complaint.tell(error)
    } finally {
      isAsking = false
      let dueAt = nextAt
      for (const one of open.values()) dueAt = Math.min(dueAt, one.dueAt)
      if (open.size > 0) planFor(dueAt)
    }
  }

  async function askFor(id: string, one: Followed) {
    const progress = await ask(id)
    // Somebody deleted the message at the carrier, or it is a day old.
    if (progress === 'gone' || clock.now() - one.since > LIFE_MS) open.delete(id)
    if (!progress || progress === 'gone') return
    if (progress.status !== one.status) await receipt(receiptOf(id, progress, clock.now()))
    if (progress.status !== one.status || isFinal(progress)) told(id, progress)
  }

  function told(id: string, progress: Progress) {
    const one = open.get(id)
    if (one) one.status = progress.status
    if (isFinal(progress)) open.delete(id)
    onNews(progress)
  }

  return {
    follow(id, since, isLate = false) {
      if (open.has(id) || isClosed) return
      // Messages that wait longest have been asked about most often.
      if (open.size >= MOST_FOLLOWED) open.delete(open.keys().next().value!)
      const dueAt = clock.now() + (isLate ? LATE_MS : firstMs())
      open.set(id, { since, dueAt, status: 'ACCEPTED' })
      planFor(dueAt)
    },
    told,
    close() {
      isClosed = true
      cancel()
    },
  }
}
