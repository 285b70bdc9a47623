import { listOf } from '../../core/fields.js'
import { createComplaint } from '../../core/lines/complaint.js'
import type { Line } from '../../core/lines/line.js'
import { fromNational } from '../../core/phone-number.js'
import type { DriverHost } from '../host.js'
import type { Inbound } from '../inbound.js'
import { advance, type Cursor, isNew, LATE_MS, readCursor, remember, writeCursor } from './cursor.js'
import { download } from './download.js'
import { ask, type Phone, troubleOf } from './phone.js'
import { type InboxRow, providerIdOf, rowOf } from './rows.js'

export interface Inbox {
  /** Reads what is new, and resolves once it is stored. */
  read(): Promise<void>
  close(): void
}

const POLL_MS = 5000
const PAGE = 100
const MAX_PAGES = 100
/** Now and then everything of the last day is read, whatever the number of texts says. */
const SWEEP_MS = 600_000
const DAY_MS = 86_400_000

/** Received texts. The phone is asked, because it can only call an https address; its calls make it read sooner. */
export function createInbox(
  phone: Phone,
  line: Pick<Line, 'number'>,
  host: Pick<DriverHost, 'receive' | 'cursor' | 'clock' | 'log'>,
): Inbox {
  const { sim, poll_ms: pollMs = POLL_MS } = phone.settings
  let isClosed = false
  let cursor: Cursor | undefined
  let known = ''
  let sweptAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  let isAskedAgain = false
  let cancel = () => {}
  const complaint = createComplaint((error) =>
    host.log.warn(troubleOf(error), "could not read the phone's inbox"),
  )

  /** How many texts there are, and the newest: one small question tells whether anything has changed. */
  async function look(): Promise<string> {
    const { headers, json } = await ask(phone, 'GET', `/inbox?${query(0, 1, 0)}`)
    const first = rowOf(listOf(json)[0])
    return `${headers['x-total-count']} ${first?.id}`
  }

  /** The phone's clock may be behind that of the network, so its own end of the period is not used. */
  const query = (from: number, limit: number, offset: number) =>
    `from=${iso(from)}&to=${iso(host.clock.now() + DAY_MS)}&limit=${limit}&offset=${offset}&includeAttachments=true`

  /** Rows from a time on, oldest first. A text that arrives meanwhile moves others to the next page, never off it. */
  async function list(from: number): Promise<InboxRow[]> {
    const rows = new Map<string, InboxRow>()
    for (let page = 0; page < MAX_PAGES; page++) {
      const { json } = await ask(phone, 'GET', `/inbox?${query(from, PAGE, page * PAGE)}`)
      const listed = listOf(json)
      for (const row of listed.map(rowOf)) if (row) rows.set(row.id, row)
      if (listed.length < PAGE) break
    }
    return [...rows.values()].reverse()
  }

  async function begin(): Promise<Cursor> {
    const stored = readCursor(await host.cursor.load())
    if (stored) return stored
    // Texts that are on the phone already were not sent to this line.
    const now = host.clock.now()
    const first = advance({ floor: 0, seen: new Map() }, await list(now - LATE_MS), now)
    await host.cursor.save(writeCursor(first))
    return first
  }

  async function readOnce(): Promise<void> {
    cursor ??= await begin()
    const now = host.clock.now()
    const present = await look()
    if (present === known && now - sweptAt < SWEEP_MS) return
    const fresh = (await list(cursor.floor)).filter((row) => isNew(cursor!, row))
    const done: InboxRow[] = []
    try {
      for (const row of fresh) {
        if (isClosed) return
        if (isOfLine(row)) await receive(row)
        done.push(row)
      }
    } finally {
      const isAll = done.length === fresh.length
      cursor = isAll ? advance(cursor, done, now) : remember(cursor, done)
      if (done.length > 0) await host.cursor.save(writeCursor(cursor))
    }
    known = present
    sweptAt = now
  }

  const isOfLine = (row: InboxRow) =>
    (row.type === 'SMS' || row.type === 'MMS_DOWNLOADED') &&
    (sim === undefined || row.sim === sim || (row.sim === null && sim === 1))

  /** A message of ours has one file, so an MMS with several becomes several. */
  async function receive(row: InboxRow): Promise<void> {
    const files = row.type === 'SMS' ? [] : row.attachments
    for (let i = 0; i < Math.max(1, files.length); i++) {
      const file = files[i]
      const message: Inbound = {
        providerId: providerIdOf(row, i),
        // A phone that reads its inbox anew may not know the SIM, which is part of the app's id.
        unstableId: row.type === 'SMS',
        from: fromNational(row.sender, line.number),
        service: 'SMS',
        content: i === 0 ? row.text : '',
        sentAt: row.at,
        stamped: true,
        ...(file ? { media: () => download(phone, row, file) } : {}),
      }
      await host.receive(message)
    }
  }

  function read(): Promise<void> {
    if (reading) {
      // The news may have come after this read began.
      isAskedAgain = true
      return reading
    }
    reading = again().finally(() => {
      reading = undefined
      cancel()
      if (!isClosed) cancel = host.clock.after(pollMs, () => void read().catch(() => {}))
    })
    return reading
  }

  async function again() {
    do {
      isAskedAgain = false
      await readOnce().catch((error) => {
        complaint.tell(error)
        throw error
      })
      complaint.over()
    } while (isAskedAgain && !isClosed)
  }

  return {
    read,
    close() {
      isClosed = true
      cancel()
    },
  }
}

const iso = (at: number) => encodeURIComponent(new Date(at).toISOString())
