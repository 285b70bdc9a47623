import type { Evidence } from '../../../core/messages/outcome.js'
import type { AttemptRef, Outbound } from '../../contract.js'
import type { Chats } from '../chats.js'
import { type Mac, MacFault } from '../mac.js'
import { guidAt, type Place, rowsInChat, sentOf } from '../reading/query.js'
import { identifierOf, type Row } from '../reading/rows.js'
import type { Statuses } from '../reading/statuses.js'
import { fileStem } from './upload.js'

/** Between the clock of the Mac and ours. */
const SKEW_MS = 10 * 60_000
/** How long the server may still send a file after we lost it. For a text the line says so. */
const FILE_MS = 20 * 60_000

/** What a message is recognised by. */
export type Wanted = Pick<Outbound, 'to' | 'group' | 'content' | 'mediaUrl' | 'extra' | 'service'>

export interface Finder {
  /** A send begins: what the Mac has by now is none of it. */
  begin(ref: string): void
  /** The message of ours in its chat that nobody has claimed yet, oldest first. */
  find(wanted: Wanted, since: number, ref: string): Promise<Row | undefined>
  /** Whether a message is known to be that of another attempt. */
  isOther(guid: string, ref: string): Promise<boolean>
  /** This message is the one of this attempt. */
  bind(guid: string, ref: string): void
  lookup(attempt: AttemptRef): Promise<Evidence>
}

interface Deps {
  mac: Mac
  chats: Chats
  statuses: Statuses
  /** Which of these are sends of ours that have been answered for already. */
  knownSends(guids: readonly string[]): Promise<ReadonlySet<string>>
  isWell(): Promise<boolean>
  /** The highest row that the Mac is known to have. */
  top(): Place | undefined
  /** How long after we lost a send a Mac without it may still send it. */
  settleMs: number
}

const MAX_KNOWN = 10_000

export function createFinder({ mac, chats, statuses, knownSends, isWell, top, settleMs }: Deps): Finder {
  const bound = new Map<string, string>()
  const begun = new Map<string, Place>()

  function bind(guid: string, ref: string) {
    keep(bound, guid, ref)
  }

  function begin(ref: string) {
    const place = top()
    if (place) keep(begun, ref, { row: place.row, guid: place.guid })
  }

  /** Those that were not there before. Told by their rows: the clock of the Mac may be wrong by minutes. */
  async function writtenSince(begin: Place | undefined, rows: Row[]): Promise<Row[]> {
    if (!begin) return rows
    const later = rows.filter(({ rowId }) => rowId === null || rowId > begin.row)
    // The rows of another database say nothing.
    return later.length === rows.length || (await guidAt(mac, begin.row)) === begin.guid ? later : rows
  }

  async function ofOthers(guids: readonly string[], ref: string): Promise<ReadonlySet<string>> {
    const answered = await knownSends(guids)
    return new Set(guids.filter((guid) => answered.has(guid) || (bound.get(guid) ?? ref) !== ref))
  }

  async function chatOf({ to, group, service }: Wanted): Promise<string | undefined> {
    if (group?.chatId) return chats.group(group.chatId)
    if (group) return (await chats.groupWith(group.members))?.guid
    return (await chats.withPerson(to, service)) ?? chats.withPerson(to)
  }

  async function rowsFor(wanted: Wanted, after: number, isRetry = false): Promise<Row[]> {
    const chat = await chatOf(wanted)
    if (chat === undefined) return []
    return rowsInChat(mac, chat, after).catch((error) => {
      const isGone = error instanceof MacFault && error.said.status === 404 && error.said.isEnvelope
      if (!isGone || isRetry) throw error
      // It is known from earlier, and may have another name by now.
      chats.forget(identifierOf(chat))
      return rowsFor(wanted, after, true)
    })
  }

  async function find(wanted: Wanted, since: number, ref: string): Promise<Row | undefined> {
    const rows = await rowsFor(wanted, since - SKEW_MS)
    const alike = rows.filter((row) => row.isFromMe && likeness(row, wanted) > 0)
    const taken = await ofOthers(
      alike.map((row) => row.guid),
      ref,
    )
    const notTaken = alike.filter((row) => !taken.has(row.guid))
    const free = await writtenSince(begun.get(ref), notTaken)
    // A failed one may be that of an earlier attempt.
    const worth = (row: Row) => likeness(row, wanted) + (row.error === 0 ? WHOLE : 0)
    const best = Math.max(0, ...free.map(worth))
    const found = free.find((row) => worth(row) === best)
    if (found) bind(found.guid, ref)
    return found
  }

  async function lookup(attempt: AttemptRef): Promise<Evidence> {
    // It leaves no trace of its own in the chat.
    if (attempt.extra?.requestsLocation) return { found: undefined }
    const now = mac.clock.now()
    const age = now - attempt.unknownSince
    const patience = filesOf(attempt).length > 0 ? FILE_MS : settleMs
    const again: Evidence = {
      found: undefined,
      againMs: Math.max(2000, Math.min(60_000, age / 4, age < patience ? patience - age : 60_000)),
    }
    const row = await find(attempt, attempt.wireAt, attempt.ref).catch(() => null)
    if (row === null) return again
    if (!row) {
      if (age < patience) return again
      return (await isWell()) ? { found: false } : again
    }
    // Of a text with a file, the text alone: the file may yet come, and the text must not go out again.
    const isPart = likeness(row, attempt) < WHOLE
    if ((isPart || row.error !== 0) && age < patience) return again
    const { guid } = row
    if (row.error !== 0 || isPart) return { found: true, providerId: guid, status: 'ERROR' }
    statuses.follow({ guid, since: attempt.wireAt, service: attempt.service })
    if (row.isDelivered) return { found: true, providerId: guid, status: 'DELIVERED' }
    const sent = await sentOf(mac, [guid]).catch(() => new Set())
    return { found: true, providerId: guid, status: sent.has(guid) ? 'SENT' : 'ACCEPTED' }
  }

  return {
    begin,
    find,
    isOther: async (guid, ref) => (await ofOthers([guid], ref)).has(guid),
    bind,
    lookup: (attempt) => lookup(attempt).catch(() => ({ found: undefined, againMs: 5000 })),
  }
}

function keep<T>(known: Map<string, T>, key: string, value: T) {
  if (known.size >= MAX_KNOWN) known.delete(known.keys().next().value!)
  known.set(key, value)
}

const WHOLE = 2

/** How much of a message a row shows: nothing, a part, or all of it. */
export function likeness(row: Row, wanted: Pick<Wanted, 'content' | 'mediaUrl' | 'extra'>): 0 | 1 | 2 {
  const card = wanted.extra?.appCard
  if (card) return row.balloon.endsWith(`:${card.extensionBundleId}`) ? 2 : 0
  const files = filesOf(wanted)
  const text = comparable(wanted.content)
  const hasText = comparable(row.text) === text
  if (files.length === 0) return hasText && row.attachments.length === 0 && row.about === null ? 2 : 0
  const names = row.attachments.map(({ name }) => fileStem(name))
  const hasFiles = files.every((url) => names.includes(fileStem(url)))
  if (hasFiles) return hasText ? 2 : row.text === '' ? 1 : 0
  return text !== '' && hasText && names.length === 0 ? 1 : 0
}

export function filesOf({ mediaUrl, extra }: Pick<Wanted, 'mediaUrl' | 'extra'>): readonly string[] {
  return extra?.mediaUrls ?? (mediaUrl ? [mediaUrl] : [])
}

/** Messages may turn quotes and dashes, and spaces at the ends are lost. */
export function comparable(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[“”„«»]/g, '"')
    .replace(/[‘’‚]/g, "'")
    .replace(/[–—]|--/g, '-')
    .replace(/…/g, '...')
    .replace(/[\s\u00a0\ufffc\u200b]+/g, '')
}
