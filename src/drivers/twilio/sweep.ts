import { takeInOrder } from '../../core/lines/in-order.js'
import type { Line } from '../../core/lines/line.js'
import { createRounds, type Rounds } from '../../core/lines/rounds.js'
import type { DriverHost } from '../host.js'
import { type Api, pagesOf, troubleOf } from './api.js'
import { type Arrival, type Arrivals, arrivedRowOf, timeOf } from './arrivals.js'
import { addressesOf } from './channels.js'
import type { Positions } from './positions.js'

const POLL_MS = 15_000
const PAGE = 100
const DAY_MS = 86_400_000
/** A message may show in the list this long after its time. */
const LATE_MS = 600_000
/** The position is stored this rarely: reading a message again is harmless. */
const SAVE_MS = 300_000

/**
 * Reads messages that no webhook brought: Twilio calls a server that is away once or twice and then forgets. The list
 * is read from its new end as far as the cursor, so a read costs what is new, not what there is.
 */
export function createSweep(
  api: Api,
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'clock' | 'log'>,
  arrivals: Arrivals,
  positions: Positions,
): Rounds {
  /** Everything before this time was read. */
  let floor: number | undefined
  let saved = Number.NEGATIVE_INFINITY
  const rounds = createRounds({
    everyMs: api.settings.poll_ms ?? POLL_MS,
    clock: host.clock,
    work: readOnce,
    tell: (error) => host.log.warn(troubleOf(error), "could not read Twilio's list of messages"),
  })

  async function readOnce(): Promise<void> {
    floor ??= await positions.load('floor')
    let now = host.clock.now()
    const start = floor ?? now
    for (let day = start - (start % DAY_MS); ; day += DAY_MS) {
      const { rows, serverNow } = await listDay(day, floor)
      // A server with a wrong year must not make us read each day up to it.
      if (serverNow !== undefined && Math.abs(serverNow - host.clock.now()) < DAY_MS) now = serverNow
      const isLast = day + DAY_MS > now
      // Messages from before the line was added were not sent to this line.
      if (floor === undefined) return keepFloor(now)
      await takeInOrder(rows, {
        senderOf: ({ from }) => from,
        isDone: ({ sid }) => rounds.isClosed() || arrivals.isKnown(sid),
        take: arrivals.take,
      })
      await keepFloor(Math.max(floor, isLast ? now - LATE_MS : day + DAY_MS - LATE_MS))
      if (isLast || rounds.isClosed()) return
    }
  }

  async function keepFloor(next: number) {
    floor = next
    if (next - saved < SAVE_MS) return
    await positions.save('floor', floor)
    saved = next
  }

  /** Messages of one day from the floor on, oldest first. */
  async function listDay(day: number, from = Number.POSITIVE_INFINITY) {
    const found: Arrival[] = []
    let serverNow: number | undefined
    for (const to of addressesOf(api.settings, line.number)) {
      const list = await listTo(to, day, from)
      found.push(...list.rows)
      serverNow ??= list.serverNow
    }
    return { rows: found.sort((a, b) => a.at - b.at), serverNow }
  }

  /** Twilio lists the newest first, but does not promise it. */
  async function listTo(to: string, day: number, from: number) {
    const query = new URLSearchParams({
      To: to,
      DateSent: new Date(day).toISOString().slice(0, 10),
      PageSize: String(PAGE),
    })
    const found: Arrival[] = []
    let serverNow: number | undefined
    for await (const page of pagesOf(api, `Messages.json?${query}`, 'messages')) {
      serverNow ??= page.serverNow
      if (!page.rows.some((row) => (timeOf(row) ?? 0) >= from)) break
      for (const arrival of page.rows.map(arrivedRowOf))
        if (arrival && arrival.at >= from) found.push(arrival)
    }
    return { rows: found.reverse(), serverNow }
  }

  return rounds
}
