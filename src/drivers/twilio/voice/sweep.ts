import { LOST_CALL_MS } from '../../../core/calls/carrier-call.js'
import { createComplaint } from '../../../core/lines/complaint.js'
import type { Line } from '../../../core/lines/line.js'
import type { DriverHost } from '../../host.js'
import { type Api, pagesOf, troubleOf } from '../api.js'
import type { Positions } from '../positions.js'
import type { Calls } from './calls.js'
import { endOf } from './ends.js'
import { type CallRow, callRowOf } from './fields.js'

export interface CallSweep {
  /** Whether calls to the number come to this server. */
  watch(areOurs: boolean): void
  read(): Promise<void>
  close(): void
}

const POLL_MS = 60_000
const PAGE = 100
const DAY_MS = 86_400_000
/** A call may show in the list this long after its time. */
const LATE_MS = 600_000
/** The position is stored this rarely: reading a call again is harmless. */
const SAVE_MS = 300_000

/**
 * Reads calls whose webhooks got lost. The list is read from its new end as far as the oldest call that may still go on.
 * Calls that go elsewhere are not ours to report.
 */
export function createCallSweep(
  api: Api,
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'clock' | 'log'>,
  calls: Calls,
  positions: Positions,
): CallSweep {
  let areOurs = false
  let isClosed = false
  let forgetting: Promise<void> = Promise.resolve()
  let reading: Promise<void> | undefined
  /** Whether something asked for a read during the current one. */
  let isAsked = false
  let cancel = () => {}
  const complaint = createComplaint((error) =>
    host.log.warn(troubleOf(error), "could not read Twilio's list of calls"),
  )

  async function readOnce(): Promise<void> {
    await forgetting
    const floor = await positions.load('calls')
    const { rows, serverNow } = await list(floor)
    const ours = host.clock.now()
    const now = serverNow !== undefined && Math.abs(serverNow - ours) < DAY_MS ? serverNow : ours
    // Calls from before the line was added did not go to this line.
    if (floor === undefined) return positions.save('calls', now)
    let next = now - LATE_MS
    let failure: unknown
    for (const row of rows) {
      if (isClosed || calls.isOver(row.sid)) continue
      const isDone = await conclude(row).catch((error) => {
        failure = error
        return false
      })
      // A call that lasts longer than any call can is given up by the program.
      if (!isDone && now - row.startedAt < LOST_CALL_MS) next = Math.min(next, row.startedAt)
    }
    if (failure) throw failure
    if (next - floor >= SAVE_MS) await positions.save('calls', next)
  }

  /** Calls to the number from the floor on, oldest first. Twilio filters by days. */
  async function list(floor = host.clock.now()) {
    const query = new URLSearchParams({ To: line.number, PageSize: String(PAGE) })
    query.set('StartTime>', new Date(floor).toISOString().slice(0, 10))
    const rows: CallRow[] = []
    let serverNow: number | undefined
    for await (const page of pagesOf(api, `Calls.json?${query}`, 'calls')) {
      serverNow ??= page.serverNow
      const recent = page.rows
        .flatMap((json) => callRowOf(json) ?? [])
        .filter((row) => row.startedAt >= floor)
      if (recent.length === 0) break
      rows.push(...recent.filter(({ direction }) => direction === 'inbound'))
    }
    return { rows: rows.reverse(), serverNow }
  }

  /** Reports a call that has ended; returns whether it has. */
  async function conclude(row: CallRow): Promise<boolean> {
    const news = await endOf(api, line.number, row)
    if (news) await calls.report(news)
    return news !== undefined
  }

  function read(): Promise<void> {
    if (!areOurs || isClosed) return Promise.resolve()
    if (reading) isAsked = true
    reading ??= readOnce()
      .then(complaint.over, (error) => {
        if (!isClosed) complaint.tell(error)
      })
      .finally(() => {
        reading = undefined
        cancel()
        const ms = isAsked ? 0 : POLL_MS
        isAsked = false
        if (!isClosed && areOurs) cancel = host.clock.after(ms, () => void read())
      })
    return reading
  }

  /** Calls that go elsewhere from now on are not to be read later. */
  async function forget(): Promise<void> {
    if ((await positions.load('calls')) !== undefined) await positions.save('calls', undefined)
  }

  return {
    watch(next) {
      const isNew = next && !areOurs
      areOurs = next
      if (isNew) void read()
      if (next) return
      cancel()
      forgetting = forget().catch((error) =>
        host.log.warn(troubleOf(error), 'could not forget how far calls were read'),
      )
    },
    read,
    close() {
      isClosed = true
      cancel()
    },
  }
}
