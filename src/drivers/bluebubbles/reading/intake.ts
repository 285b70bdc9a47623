import { createBoundedMap } from '../../../base/bounded-map.js'
import type { Inbound } from '../../inbound.js'
import { createLanes } from '../lanes.js'
import { MacFault, troubleOf } from '../mac.js'
import { type ArrivalDeps, createGroupBook, fileMessage, messagesOf } from './arrivals.js'
import { CutOff } from './download.js'
import { rowOf } from './query.js'
import type { Row } from './rows.js'

export interface Intake {
  /** Takes rows that were read, some of them repeatedly. Returns how many are new. */
  take(rows: readonly Row[]): number
  /** The lowest row id that is not stored yet. */
  oldestOpen(): number | undefined
  /** Waits while MAX_OPEN rows are unfinished. */
  room(): Promise<void>
  close(): void
}

interface OpenRow {
  row: Row
  /** Number of reads that found the row incomplete. */
  looks: number
  tries: number
  /** Number of failures caused by the Mac. */
  faults: number
}

/** Messages links files and chats to a row shortly after it writes the row. */
const LOOKS_MS = [2_000, 5_000, 15_000]
const AGAIN_MS = [5_000, 15_000, 60_000]
/** After so many failures of the Mac, the message is stored with what is known of it. */
const MAX_FAULTS = 10
const MAX_SEEN = 20_000
const MAX_OPEN = 500
/**
 * Rows older than the line, by more than this, are history: a newly set up Mac downloads its whole history again.
 */
const HISTORY_MS = 3_600_000

/** Passes inbound messages to the host, each message once and only when it is complete. */
export function createIntake(deps: ArrivalDeps): Intake {
  const { mac, host, chats, line } = deps
  const groups = createGroupBook(deps)
  const lanes = createLanes(host.clock)
  /** Rows passed to the host, with the ids of their files. */
  const seen = createBoundedMap<string, Set<string>>(MAX_SEEN)
  const open = new Map<string, OpenRow>()
  let closed = false
  let started = 0
  let waitingForRoom: (() => void)[] = []

  function remember(row: Row) {
    seen.set(row.guid, new Set(row.attachments.map(({ guid }) => guid)))
  }

  function start(row: Row) {
    const known = seen.get(row.guid)
    if (open.has(row.guid) || (known && row.attachments.every(({ guid }) => known.has(guid)))) return
    if (row.chat && !row.chat.isGroup && row.itemType === 0) chats.learn(row.chat)
    const isHistory = row.sentAt !== null && row.sentAt < line.createdAt - HISTORY_MS
    const isNothing = row.itemType === 0 && (row.isFromMe || row.isRetracted || row.handle === null)
    if (isHistory || isNothing) return remember(row)
    const one: OpenRow = { row, looks: 0, tries: 0, faults: 0 }
    open.set(row.guid, one)
    started++
    void run(one)
  }

  async function run(one: OpenRow) {
    if (closed) return
    try {
      const done = await lanes.inTurn(one.row.chat?.guid ?? one.row.guid, () => step(one))
      await done?.stored
      if (done) finish(one)
      else host.clock.after(LOOKS_MS[one.looks++]!, () => void run(one))
    } catch (error) {
      if (closed) return
      if (error instanceof MacFault || error instanceof CutOff) one.faults++
      if (one.tries++ === 0)
        host.log.warn(troubleOf(error), 'could not store a message from the Mac; trying again')
      const wait = AGAIN_MS[Math.min(one.tries, AGAIN_MS.length) - 1]!
      host.clock.after(wait, () => void run(one))
    }
  }

  function finish(one: OpenRow) {
    open.delete(one.row.guid)
    remember(one.row)
    if (open.size < MAX_OPEN) {
      for (const go of waitingForRoom) go()
      waitingForRoom = []
    }
  }

  /**
   * Passes the message to the host; undefined if a part of it is still missing. Does not wait until the message is
   * stored.
   */
  async function step(one: OpenRow): Promise<{ stored: Promise<unknown> } | undefined> {
    const isHopeless = one.faults >= MAX_FAULTS
    if ((one.looks > 0 || one.tries > 0) && !isHopeless)
      one.row = mergeRows(one.row, await rowOf(mac, one.row.guid))
    const { row } = one
    const isPatient = one.looks < LOOKS_MS.length && !isHopeless
    if (isPatient && isUnfinished(row)) return undefined
    return { stored: Promise.all(await handOver(row, isHopeless)) }
  }

  async function handOver(row: Row, isHopeless: boolean): Promise<Promise<void>[]> {
    if (row.isRetracted) return []
    if (row.itemType !== 0) {
      if (!row.chat?.isGroup || isHopeless) return []
      return [host.group(await groups.read(row.chat.guid, row.handle ?? '', { isChanged: true }))]
    }
    const group = row.chat?.isGroup
      ? await groups.read(row.chat.guid, row.handle!, { isHopeless })
      : undefined
    const known = seen.get(row.guid)
    return (await messagesOf(deps, row, group, isHopeless)).flatMap((message) => {
      if (known && message.providerId === row.guid) return lateFile(row, message, known)
      return host.receive(isHopeless ? withoutMedia(message) : message)
    })
  }

  /** The first file of a message that was stored without it. */
  function lateFile(row: Row, { media: _, extra: __, ...base }: Inbound, known: ReadonlySet<string>) {
    const [file] = row.attachments
    return file && !known.has(file.guid) ? host.receive(fileMessage(mac, row, base, 0)) : []
  }

  return {
    take(rows) {
      const before = started
      for (const row of rows) start(row)
      return started - before
    },
    oldestOpen() {
      const rows = [...open.values()].flatMap(({ row }) => row.rowId ?? [])
      return rows.length === 0 ? undefined : Math.min(...rows)
    },
    room: () => (open.size < MAX_OPEN ? Promise.resolve() : new Promise((go) => waitingForRoom.push(go))),
    close() {
      closed = true
      for (const go of waitingForRoom) go()
    },
  }
}

function isUnfinished(row: Row): boolean {
  if (!row.chat) return true
  if (row.itemType !== 0 || row.about || row.balloon || row.attachments.length > 0) return false
  return row.text === '' || row.partCount > 1
}

/** The newer reading of a row, completed with the sender and chat of the older one. */
function mergeRows(before: Row, again: Row | undefined): Row {
  if (again?.itemType !== before.itemType || again.isFromMe !== before.isFromMe) return before
  return { ...again, handle: again.handle ?? before.handle, chat: again.chat ?? before.chat }
}

function withoutMedia({ media: _, ...message }: Inbound): Inbound {
  return message
}
