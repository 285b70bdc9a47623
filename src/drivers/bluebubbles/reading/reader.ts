import { createAgain } from '../../../base/again.js'
import { fieldsOf, textOf, wholeOf } from '../../../core/fields.js'
import type { DriverHost } from '../../host.js'
import { type Mac, troubleOf } from '../mac.js'
import type { Intake } from './intake.js'
import { type Condition, guidAt, type Page, queryPage, type RowPosition } from './query.js'
import type { Row } from './rows.js'
import type { Statuses } from './statuses.js'

/** How far the reader is in the Mac's database. */
interface Cursor extends RowPosition {
  /**
   * Reading starts above this row id, below the top row: rows may appear late, and rows that were not stored before
   * a restart are read again.
   */
  floor: number
  /** Time of the last read, by Trunkline's clock. */
  at: number
}

export interface Reader {
  /** Reads now. */
  wake(): void
  /** The Mac called the webhook: reads now. */
  called(): void
  /** The server was unreachable and may have another database now. */
  doubt(): void
  /** The highest row read so far. */
  top(): RowPosition | undefined
  close(): void
}

const PAGE = 500
const MAX_PAGES = 400
/** A row appears once its chat is linked; rows with higher ids may appear before it. */
const OVERLAP_ROWS = 50
const OVERLAP_MS = 120_000
const MAX_OVERLAP_ROWS = 2000
const SKEW_MS = 3_600_000
const UNANNOUNCED_MS = 60_000
const MAX_MISSED = 3
const CLOSED = 'The line was closed'
const WITH = ['chat', 'attachment', 'message.attributed-body']

/**
 * Reads new rows of the Mac's database by row id. Webhook calls may be repeated, late, out of order or missing, and
 * a message's time is that of its sender.
 */
export function createReader(
  deps: {
    mac: Mac
    intake: Intake
    statuses: Statuses
    pollMs: number
    /** The Mac stopped calling although there is news, or calls again. */
    reportSilence(isSilent: boolean): void
  },
  host: Pick<DriverHost, 'cursor' | 'clock' | 'log'>,
): Reader {
  const { mac, intake, statuses, pollMs, reportSilence } = deps
  let cursor: Cursor | undefined
  let saved = ''
  /** Top rows of earlier passes, oldest first. */
  let tops: { at: number; row: number }[] = []
  let isDoubtful = true
  let isPoll = false
  let closed = false
  let failures = 0
  let fresh = 0
  let calledAt = 0
  /** Number of polls that found news without a webhook call. */
  let missed = 0

  const reading = createAgain(
    host.clock,
    async () => {
      const [before, wasPoll] = [fresh, isPoll]
      isPoll = true
      await pass()
      failures = 0
      if (wasPoll && fresh > before) noteUnannounced()
      return host.clock.now() + pollMs
    },
    (error) => {
      isDoubtful = true
      if (failures++ === 0 && !closed)
        host.log.warn(troubleOf(error), 'could not read new messages from the Mac; trying again')
      return pollMs
    },
  )

  /** Detects a server that has stopped watching its database, which it does silently and for good. */
  function noteUnannounced() {
    if (host.clock.now() - calledAt >= UNANNOUNCED_MS && ++missed === MAX_MISSED) reportSilence(true)
  }

  function wake() {
    isPoll = false
    reading.ask()
  }

  async function pass() {
    cursor ??= readCursor(await host.cursor.load()) ?? (await begin())
    if (isDoubtful && (await isOtherDatabase(cursor))) await restart(cursor)
    else {
      const from = Math.min(cursor.floor, cursor.row - OVERLAP_ROWS)
      const read = await readAll({ where: [above(from)] })
      if (read.size === 0 && cursor.row > 0) await restartIfLower(cursor)
      else if (read.top) cursor = { ...cursor, ...laterOf(cursor, read.top) }
    }
    isDoubtful = false
    await save()
  }

  /** Starts a new line at the top: everything already on the Mac is history. */
  async function begin(): Promise<Cursor> {
    const top = await newest()
    const row = top?.rowId ?? 0
    return { row, guid: top?.guid ?? '', floor: row, at: host.clock.now() }
  }

  /** The highest row id among the 100 latest messages. */
  async function newest(): Promise<Row | undefined> {
    const { rows } = await queryPage(mac, { sort: 'DESC', limit: 100, with: ['chat'] })
    return highest(rows)
  }

  async function isOtherDatabase({ row, guid }: Cursor): Promise<boolean> {
    if (row === 0 || guid === '') return false
    const now = await guidAt(mac, row)
    return now !== undefined && now !== guid
  }

  /** Nothing at or above the cursor's row: the row was deleted, or the database was recreated. */
  async function restartIfLower(before: Cursor) {
    const top = await newest()
    if (top?.rowId && top.rowId < before.row) await restart(before)
  }

  /**
   * Another database: reads by time instead of row id, from the last read on. Send times are less reliable than row
   * ids.
   */
  async function restart(before: Cursor) {
    host.log.warn({}, 'the Mac has a new database; reading on from the time of the last read')
    await readAll({ after: before.at - SKEW_MS })
    tops = []
    cursor = await begin()
  }

  /** Reads all pages. Rows added in the meantime shift the pages, which are then read again. */
  async function readAll(ask: { where?: Condition[]; after?: number }): Promise<{ size: number; top?: Row }> {
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
        // The cursor must not pass rows that were not taken.
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
    // Rows that are not stored yet exist only in this process; after a restart they must be read again.
    const floor = Math.min(cursor.floor, (intake.oldestOpen() ?? row + 1) - 1)
    // Rounded to ten minutes, so that the time alone causes few writes.
    const text = JSON.stringify({ ...cursor, floor, at: Math.floor(now / 600_000) * 600_000 })
    if (text === saved) return
    await host.cursor.save(text)
    saved = text
  }

  return {
    wake,
    called() {
      if (missed >= MAX_MISSED) reportSilence(false)
      missed = 0
      calledAt = host.clock.now()
      wake()
    },
    doubt() {
      isDoubtful = true
      wake()
    },
    top: () => cursor,
    close() {
      closed = true
      void reading.stop()
    },
  }
}

function above(row: number): Condition {
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
