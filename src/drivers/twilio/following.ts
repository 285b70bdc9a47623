import { fieldsOf, textOf, wholeOf } from '../../core/fields.js'
import { createComplaint } from '../../core/lines/complaint.js'
import type { DriverHost } from '../host.js'
import { type Api, ApiFault, ask, troubleOf } from './api.js'
import { isFinal, type Progress, progressOf, receiptOf } from './statuses.js'

export interface Following {
  /**
   * Asks about a message until its status is final, in case its webhooks get lost. `isLate`: some may have been lost
   * already.
   */
  follow(sid: string, since: number, isLate?: boolean): void
  /** A webhook told this about a message. */
  told(sid: string, progress: Progress): void
  close(): void
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
/** If Twilio gives no answer, it is left alone for this time, however many messages are open. */
const REST_MS = 15_000

/**
 * Statuses of sent messages that no webhook has told. `firstMs` is the time until the first question, which then comes
 * again whenever the message is twice as old.
 */
export function createFollowing(
  api: Api,
  host: Pick<DriverHost, 'receipt' | 'clock' | 'log'>,
  firstMs: () => number,
  onNews: (progress: Progress) => void,
): Following {
  const open = new Map<string, Followed>()
  let isClosed = false
  let isAsking = false
  let nextAt = Number.POSITIVE_INFINITY
  let restsUntil = 0
  let cancel = () => {}
  const complaint = createComplaint((error) =>
    host.log.warn(troubleOf(error), 'could not ask Twilio about sent messages'),
  )

  function planFor(dueAt: number) {
    if (isClosed || isAsking || dueAt >= nextAt) return
    cancel()
    nextAt = Math.max(dueAt, restsUntil)
    cancel = host.clock.after(Math.max(0, nextAt - host.clock.now()), () => void askAll())
  }

  async function askAll() {
    isAsking = true
    nextAt = Number.POSITIVE_INFINITY
    const now = host.clock.now()
    const due: [string, Followed][] = []
    for (const entry of open) {
      if (entry[1].dueAt <= now) due.push(entry)
      if (due.length === AT_ONCE) break
    }
    try {
      for (const [sid, one] of due) {
        if (isClosed) break
        one.dueAt = now + Math.min(MOST_MS, Math.max(firstMs(), now - one.since))
        await askFor(sid, one)
      }
      complaint.over()
    } catch (error) {
      restsUntil = host.clock.now() + REST_MS
      complaint.tell(error)
    } finally {
      isAsking = false
      let dueAt = nextAt
      for (const one of open.values()) dueAt = Math.min(dueAt, one.dueAt)
      if (open.size > 0) planFor(dueAt)
    }
  }

  async function askFor(sid: string, one: Followed) {
    const answer = await ask(api, `Messages/${sid}.json`).catch((error) => {
      if (error instanceof ApiFault && error.answer.status === 404) return undefined
      throw error
    })
    const { status, error_code: code } = fieldsOf(answer?.json)
    const progress = progressOf(textOf(status), wholeOf(code))
    // Somebody deleted the message at Twilio, or it is a day old.
    if (!answer || host.clock.now() - one.since > LIFE_MS) open.delete(sid)
    if (!progress || progress.status === one.status) return
    await host.receipt(receiptOf(sid, progress, host.clock.now()))
    told(sid, progress)
  }

  function told(sid: string, progress: Progress) {
    const one = open.get(sid)
    if (one) one.status = progress.status
    if (isFinal(progress)) open.delete(sid)
    onNews(progress)
  }

  return {
    follow(sid, since, isLate = false) {
      if (open.has(sid) || isClosed) return
      // Messages that wait longest have been asked about most often.
      if (open.size >= MOST_FOLLOWED) open.delete(open.keys().next().value!)
      const dueAt = host.clock.now() + (isLate ? LATE_MS : firstMs())
      open.set(sid, { since, dueAt, status: 'ACCEPTED' })
      planFor(dueAt)
    },
    told,
    close() {
      isClosed = true
      cancel()
    },
  }
}
