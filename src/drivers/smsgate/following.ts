import { createComplaint } from '../../core/lines/complaint.js'
import type { DriverHost } from '../host.js'
import { type Phone, troubleOf } from './phone.js'
import { isOfThePhone, type PhoneState, receiptOf, stateOf } from './states.js'

export interface Following {
  /** Asks the phone about a text until its state is final. */
  follow(id: string, since: number): void
  /** The phone has news about a text. */
  hint(id: string): void
  close(): void
}

interface Followed {
  since: number
  dueAt: number
  told: PhoneState['status']
}

const FIRST_MS = 2000
/** A phone that gives no useful answer is left alone for this time, however many texts are open. */
const REST_MS = 15_000
const MOST_MS = 3_600_000
/** A text is asked about again after this share of its age. */
const SHARE = 4
const LIFE_MS = 24 * 3_600_000
const AT_ONCE = 20
const FINAL: readonly PhoneState['status'][] = ['DELIVERED', 'ERROR']

/**
 * The states of sent texts. They are asked for, because the phone can only call an https address; its calls make the
 * question come sooner.
 */
export function createFollowing(
  phone: Phone,
  host: Pick<DriverHost, 'receipt' | 'clock' | 'log'>,
  onTrouble: (state: PhoneState | undefined) => void,
): Following {
  const open = new Map<string, Followed>()
  const isLast = (status: PhoneState['status']) =>
    FINAL.includes(status) || (status === 'SENT' && phone.settings.receipts === false)
  let isClosed = false
  let isAsking = false
  let restsUntil = 0
  let cancel = () => {}
  const complaint = createComplaint((error) =>
    host.log.warn(troubleOf(error), 'could not ask the phone about sent texts'),
  )

  function plan() {
    cancel()
    if (isClosed || isAsking || open.size === 0) return
    let dueAt = Number.POSITIVE_INFINITY
    for (const one of open.values()) dueAt = Math.min(dueAt, one.dueAt)
    cancel = host.clock.after(
      Math.max(0, Math.max(dueAt, restsUntil) - host.clock.now()),
      () => void askAll(),
    )
  }

  async function askAll() {
    isAsking = true
    const now = host.clock.now()
    const due = [...open].filter(([, { dueAt }]) => dueAt <= now).slice(0, AT_ONCE)
    try {
      for (const [id, one] of due) {
        if (isClosed) break
        one.dueAt = now + Math.min(MOST_MS, Math.max(FIRST_MS, (now - one.since) / SHARE))
        if (!(await askFor(id, one))) {
          restsUntil = host.clock.now() + REST_MS
          break
        }
      }
      complaint.over()
    } catch (error) {
      restsUntil = host.clock.now() + REST_MS
      complaint.tell(error)
    } finally {
      isAsking = false
      plan()
    }
  }

  /** False if the phone gives no useful answer at the moment. */
  async function askFor(id: string, one: Followed): Promise<boolean> {
    const { status, json } = await phone.call('GET', `/messages/${encodeURIComponent(id)}`)
    const state = status === 200 ? stateOf(json) : undefined
    // The phone's log is emptied, or the text is a day old.
    if (status === 404 || host.clock.now() - one.since > LIFE_MS) open.delete(id)
    if (!state) return status === 404
    if (state.status !== one.told) await host.receipt(receiptOf(id, state, host.clock.now()))
    one.told = state.status
    if (isLast(state.status)) open.delete(id)
    if (state.status === 'ERROR' ? isOfThePhone(state) : state.status !== 'ACCEPTED')
      onTrouble(state.status === 'ERROR' ? state : undefined)
    return true
  }

  return {
    follow(id, since) {
      open.set(id, { since, dueAt: host.clock.now() + FIRST_MS, told: 'ACCEPTED' })
      plan()
    },
    hint(id) {
      const one = open.get(id)
      if (!one) return
      restsUntil = 0
      one.dueAt = host.clock.now()
      plan()
    },
    close() {
      isClosed = true
      cancel()
    },
  }
}
