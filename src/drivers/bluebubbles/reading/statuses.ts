import { createTurns } from '../../../base/turns.js'
import type { Service } from '../../../core/messages/message.js'
import type { DriverHost } from '../../host.js'
import { refusalOf } from '../answers.js'
import { type Mac, troubleOf } from '../mac.js'
import { rowsOf, sentOf, servicesOf } from './query.js'
import type { Row } from './rows.js'

/** A sent message without a final status. */
interface FollowedSend {
  guid: string
  since: number
  /** Number of lookups in LOOKS_MS that are done. */
  looks: number
  dueAt: number
  isSent: boolean
  isDelivered: boolean
  /** The requested service, until `isServiceKnown`; then the service used. */
  service: Service
  isServiceKnown: boolean
}

export interface Statuses {
  /** Follows the status of a sent message. */
  follow(send: {
    guid: string
    since: number
    service: Service
    isSent?: boolean
    isDelivered?: boolean
    isServiceKnown?: boolean
  }): void
  /** Takes rows that were read for another reason. */
  observe(rows: readonly Row[]): void
  /** Looks up this message now. */
  hint(guid: string): void
  isFollowed(guid: string): boolean
  close(): void
}

const LOOKS_MS = [2_000, 5_000, 15_000, 60_000, 300_000]
const HOURLY_MS = 3_600_000
const MAX_AGE_MS = 24 * 3_600_000
const AGAIN_MS = 15_000

/**
 * Reports the status of sent messages. The server announces few failures, and nothing at all once it stops watching
 * its database. So the driver looks up each message: often at first, then hourly for a day.
 */
export function createStatuses(
  mac: Mac,
  host: Pick<DriverHost, 'receipt' | 'read' | 'clock' | 'log'>,
): Statuses {
  const { clock } = host
  const followed = new Map<string, FollowedSend>()
  let cancel = () => {}
  let armedFor = Number.POSITIVE_INFINITY
  let closed = false
  const inTurn = createTurns()

  function arm() {
    if (closed) return
    let next = Number.POSITIVE_INFINITY
    for (const { dueAt } of followed.values()) next = Math.min(next, dueAt)
    if (next === armedFor) return
    cancel()
    armedFor = next
    if (next === Number.POSITIVE_INFINITY) return
    cancel = clock.after(next - clock.now(), () => {
      armedFor = Number.POSITIVE_INFINITY
      look()
    })
  }

  /** Runs steps in sequence, so that reports keep the order of the reads. */
  function enqueue(step: () => Promise<void>) {
    void inTurn(step)
      .catch((error) => {
        if (!closed)
          host.log.warn(troubleOf(error), 'could not read the status of sent messages; trying again')
      })
      .then(arm)
  }

  function look() {
    const now = clock.now()
    const due = [...followed.values()].filter(({ dueAt }) => dueAt <= now)
    for (const one of due) one.dueAt = now + AGAIN_MS
    enqueue(async () => {
      const guids = due.map(({ guid }) => guid)
      const rows = await rowsOf(mac, guids)
      const unsent = due.filter((one) => !one.isSent).map(({ guid }) => guid)
      const sent = await sentOf(mac, unsent)
      await report(rows, sent)
      for (const one of due) plan(one, now)
    })
  }

  function plan(one: FollowedSend, now: number) {
    while (one.looks < LOOKS_MS.length && one.since + LOOKS_MS[one.looks]! <= now) one.looks++
    const nextAt = one.looks < LOOKS_MS.length ? one.since + LOOKS_MS[one.looks]! : now + HOURLY_MS
    if (nextAt > one.since + MAX_AGE_MS) followed.delete(one.guid)
    one.dueAt = nextAt
  }

  async function report(rows: readonly Row[], sent: ReadonlySet<string>) {
    const known = rows.flatMap((row) => {
      const one = row.isFromMe ? followed.get(row.guid) : undefined
      return one ? [{ row, one, isSent: one.isSent || row.isDelivered || sent.has(row.guid) }] : []
    })
    const unsure = known.filter(({ one, isSent }) => isSent && !one.isServiceKnown)
    const services =
      unsure.length > 0 &&
      (await servicesOf(
        mac,
        unsure.map(({ one }) => one.guid),
      ))
    for (const { row, one, isSent } of known) {
      if (services && !one.isServiceKnown && isSent) {
        one.service = services.get(one.guid) ?? 'iMessage'
        one.isServiceKnown = true
      }
      await reportRow(row, one, isSent)
    }
  }

  async function reportRow(row: Row, one: FollowedSend, isSent: boolean) {
    const news = { providerId: row.guid, ...(one.isServiceKnown ? { service: one.service } : {}) }
    const now = clock.now()
    if (row.error !== 0) {
      const { code, detail } = refusalOf(row.error)
      await host.receipt({ ...news, status: 'ERROR', at: now, code, detail })
      followed.delete(row.guid)
      return
    }
    if (isSent && !one.isSent) {
      await host.receipt({ ...news, status: 'SENT', at: now })
      one.isSent = true
    }
    if (row.isDelivered && !one.isDelivered) {
      await host.receipt({ ...news, status: 'DELIVERED', at: row.deliveredAt ?? now })
      one.isDelivered = true
    }
    if (row.readAt !== null) {
      await host.read({ providerId: row.guid, at: row.readAt })
      followed.delete(row.guid)
    }
  }

  return {
    follow({ guid, since, service, isSent = false, isDelivered = false, isServiceKnown = false }) {
      if (followed.has(guid)) return
      const one = { guid, since, looks: 0, dueAt: 0, isSent, isDelivered, service, isServiceKnown }
      followed.set(guid, one)
      // Lookups missed during a restart become one.
      one.dueAt = Math.max(clock.now(), since + LOOKS_MS[0]!)
      arm()
    },
    observe(rows) {
      const ours = rows.filter((row) => followed.has(row.guid))
      if (ours.length > 0) enqueue(() => report(ours, new Set()))
    },
    hint(guid) {
      const one = followed.get(guid)
      if (!one) return
      one.dueAt = clock.now()
      arm()
    },
    isFollowed: (guid) => followed.has(guid),
    close() {
      closed = true
      cancel()
    },
  }
}
