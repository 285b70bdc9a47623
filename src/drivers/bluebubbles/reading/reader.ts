import type { DriverHost } from '../../host.js'
import { fieldsOf, textOf, wholeOf } from '../json.js'
import { type Mac, troubleOf } from '../mac.js'
import type { Intake } from './intake.js'
import { guidAt, type Page, type Place, queryPage, type Where } from './query.js'
import type { Row } from './rows.js'
import type { Statuses } from './statuses.js'

/** How far the Mac's database has been read. */
interface Cursor extends Place {
  /** Where reading begins: rows may show late, and after a restart what was not stored is read again. */
  floor: number
  /** When it was read last, by our clock. */
  at: number
}

export interface Reader {
  /** There may be news. */
  wake(): void
  /** The Mac called to say so. */
  called(): void
  /** The server was away: its database may be another one now. */
  doubt(): void
  /** The highest row that the Mac is known to have. */
  top(): Place | undefined
  close(): void
}

const PAGE = 500
const MAX_PAGES = 400
/** A row shows when its chat is linked, by then others have passed it. */
const OVERLAP_ROWS = 50
const OVERLAP_MS = 120_000
const MAX_OVERLAP_ROWS = 2000
const SKEW_MS = 3_600_000
const UNANNOUNCED_MS = 60_000
const MISSED_TIMES = 3
const CLOSED = 'The line was closed'
const WITH = ['chat', 'attachment', 'message.attributed-body']

/**
 * Reads what is new in the Mac's database, by the number of the row: what the server announces may come twice,
 * late, out of order or never, and the time of a message is that of its sender.
 */
export function createReader(
  deps: {
    mac: Mac
    intake: Intake
    statuses: Statuses
    pollMs: number
    /** The Mac has stopped to call although there is news, or calls again. */
    silent(isSilent: boolean): void
  },
  host: Pick<DriverHost, 'cursor' | 'clock' | 'log'>,
): Reader {
  const { mac, intake, statuses, pollMs, silent } = deps
  let cursor: Cursor | undefined
  let saved = ''
  /** Tops of earlier passes, oldest first. */
  let tops: { at: number; row: number }[] = []
  let isDoubtful = true
  let running = false
  let again = false
  let closed = false
  let failures = 0
  let cancel = () => {}
  let fresh = 0
  let calledAt = 0
  /** How often there was news that nobody had called about. */
  let missed = 0

  /** The server may lose its watch over the database for good, and shows no sign of it. */
  async function poll() {
    const before = fresh
    await run()
    if (fresh === before || host.clock.now() - calledAt < UNANNOUNCED_MS) return
    if (++missed === MISSED_TIMES) silent(true)
  }

  async function run() {
    if (running || closed) {
      again = true
      return
    }
    running = true
    cancel()
    try {
      do {
        again = false
        await pass()
        failures = 0
      } while (again && !closed)
    } catch (error) {
      isDoubtful = true
      if (failures++ === 0 && !closed)
        host.log.warn(troubleOf(error), 'the Mac could not be asked for news; trying again')
    } finally {
      running = false
      if (!closed) cancel = host.clock.after(pollMs, () => void poll())
    }
  }

  async function pass() {
    cursor ??= readCursor(await host.cursor.load()) ?? (await begin())
    if (isDoubtful && (await isOther(cursor))) await restart(cursor)
    else {
      const from = Math.min(cursor.floor, cursor.row - OVERLAP_ROWS)
      const read = await readAll({ where: [above(from)] })
      if (read.size === 0 && cursor.row > 0) await restartIfLower(cursor)
      else if (read.top) cursor = { ...cursor, ...laterOf(cursor, read.top) }
    }
    isDoubtful = false
    await save()
  }

  /** At first sight of a Mac, everything on it is old. */
  async function begin(): Promise<Cursor> {
    const top = await newest()
    const row = top?.rowId ?? 0
    return { row, guid: top?.guid ?? '', floor: row, at: host.clock.now() }
  }

  /** The highest row among the latest messages. */
  async function newest(): Promise<Row | undefined> {
    const { rows } = await queryPage(mac, { sort: 'DESC', limit: 100, with: ['chat'] })
    return highest(rows)
  }

  async function isOther({ row, guid }: Cursor): Promise<boolean> {
    if (row === 0 || guid === '') return false
    const now = await guidAt(mac, row)
    return now !== undefined && now !== guid
  }

  /** Nothing at our row and above it: it was deleted, or the database was made anew. */
  async function restartIfLower(before: Cursor) {
    const top = await newest()
    if (top?.rowId && top.rowId < before.row) await restart(before)
  }

  /** Another database: what came since the last look is told by its time, which is less sure than by row. */
  async function restart(before: Cursor) {
    host.log.warn({}, 'the database of the Mac was made anew; reading on from the time it was last read')
    await readAll({ after: before.at - SKEW_MS })
    tops = []
    cursor = await begin()
  }

  /** Reads all pages. What is added meanwhile may shift them, and then they are read again. */
  async function readAll(ask: { where?: Where[]; after?: number }): Promise<{ size: number; top?: Row }> {
    let top: Row | undefined
    let size = 0
    for (let tries = 0; tries < 5; tries++) {
      let first: Page | undefined
      let last: Page | undefined
      size = 0
      for (let pages = 0; pages < MAX_PAGES; pages++) {
        last = await queryPage(mac, { ...ask, with: WITH, sort: 'ASC', limit: PAGE, offset: size })
        if (closed) throw new Error(CLOSED)
        first ??= last
        size += last.size
        top = highest(top ? [top, ...last.rows] : last.rows)
        statuses.observe(last.rows)
        fresh += intake.take(last.rows)
        await intake.room()
        // What was not read must not count as read.
        if (closed) throw new Error(CLOSED)
        const isLast = last.total === undefined ? last.size < PAGE : size >= last.total
        if (last.size === 0 || isLast) break
      }
      if (first?.total === last?.total) break
    }
    return { size, ...(top ? { top } : {}) }
  }

  async function save() {
    if (!cursor) return
    const now = host.clock.now()
    const { row } = cursor
    cursor.at = now
    tops.push({ at: now, row })
    while (tops.length > 1 && tops[1]!.at <= now - OVERLAP_MS) tops.shift()
    cursor.floor = Math.min(row, Math.max(tops[0]!.row, row - MAX_OVERLAP_ROWS))
    // What is not stored yet is at hand as long as we run, and only then.
    const floor = Math.min(cursor.floor, (intake.oldestOpen() ?? row + 1) - 1)
    // The time alone is worth a write only now and then.
    const text = JSON.stringify({ ...cursor, floor, at: Math.floor(now / 600_000) * 600_000 })
    if (text === saved) return
    await host.cursor.save(text)
    saved = text
  }

  return {
    wake: () => void run(),
    called() {
      if (missed >= MISSED_TIMES) silent(false)
      missed = 0
      calledAt = host.clock.now()
      void run()
    },
    doubt() {
      isDoubtful = true
      void run()
    },
    top: () => cursor,
    close() {
      closed = true
      cancel()
    },
  }
}

function above(row: number): Where {
  return { statement: 'message.ROWID > :r', args: { r: Math.max(0, row) } }
}

function highest(rows: readonly Row[]): Row | undefined {
  let top: Row | undefined
  for (const row of rows) if (row.rowId !== null && row.rowId > (top?.rowId ?? 0)) top = row
  return top
}

function laterOf(cursor: Cursor, { rowId, guid }: Row): Partial<Cursor> {
  return rowId! > cursor.row ? { row: rowId!, guid } : {}
}

function readCursor(text: string | null): Cursor | undefined {
  if (text === null) return undefined
  try {
    const { row, guid, floor, at } = fieldsOf(JSON.parse(text))
    const known = wholeOf(row)
    if (known === undefined) return undefined
    return { row: known, guid: textOf(guid), floor: wholeOf(floor) ?? known, at: wholeOf(at) ?? 0 }
  } catch {
    return undefined
  }
}
