import { createBoundedMap } from '../../../base/bounded-map.js'
import type { Evidence } from '../../../core/messages/outcome.js'
import type { AttemptRef, Outbound } from '../../contract.js'
import type { Chats } from '../chats.js'
import { type Mac, MacFault } from '../mac.js'
import { guidAt, type RowPosition, rowsInChat, sentOf } from '../reading/query.js'
import { identifierOf, type Row } from '../reading/rows.js'
import type { Statuses } from '../reading/statuses.js'
import { fileStem } from './upload.js'

/** Tolerated difference between the clocks of the Mac and of Trunkline. */
const SKEW_MS = 10 * 60_000
/** The server may still send a file this long after the connection was lost. For texts `settleMs` applies. */
const FILE_SETTLE_MS = 20 * 60_000

/** The fields that identify a message on the Mac. */
export type MessageTraits = Pick<Outbound, 'to' | 'group' | 'content' | 'mediaUrl' | 'extra' | 'service'>

export interface Finder {
  /** Marks the start of a send: rows that exist now do not belong to it. */
  begin(ref: string): void
  /** Finds our oldest matching message in the chat that belongs to no other attempt. */
  find(wanted: MessageTraits, since: number, ref: string): Promise<Row | undefined>
  /** Whether a message belongs to another attempt. */
  isOther(guid: string, ref: string): Promise<boolean>
  /** Records that a message belongs to an attempt. */
  bind(guid: string, ref: string): void
  lookup(attempt: AttemptRef): Promise<Evidence>
}

interface Deps {
  mac: Mac
  chats: Chats
  statuses: Statuses
  /** The ids that already belong to recorded sends. */
  knownSends(guids: readonly string[]): Promise<ReadonlySet<string>>
  isHealthy(): Promise<boolean>
  /** The highest row read so far. */
  top(): RowPosition | undefined
  /** Time after which a message that is not on the Mac counts as never sent. */
  settleMs: number
}

const MAX_REMEMBERED = 10_000

export function createFinder({ mac, chats, statuses, knownSends, isHealthy, top, settleMs }: Deps): Finder {
  const bound = createBoundedMap<string, string>(MAX_REMEMBERED)
  const begun = createBoundedMap<string, RowPosition>(MAX_REMEMBERED)

  function bind(guid: string, ref: string) {
    bound.set(guid, ref)
  }

  function begin(ref: string) {
    const place = top()
    if (place) begun.set(ref, { row: place.row, guid: place.guid })
  }

  /** Rows written since the send began, by row id: the Mac's clock may be wrong by minutes. */
  async function writtenSince(begin: RowPosition | undefined, rows: Row[]): Promise<Row[]> {
    if (!begin) return rows
    const later = rows.filter(({ rowId }) => rowId === null || rowId > begin.row)
    // Row ids of another database are not comparable.
    return later.length === rows.length || (await guidAt(mac, begin.row)) === begin.guid ? later : rows
  }

  async function idsOfOtherAttempts(guids: readonly string[], ref: string): Promise<ReadonlySet<string>> {
    const answered = await knownSends(guids)
    return new Set(guids.filter((guid) => answered.has(guid) || (bound.get(guid) ?? ref) !== ref))
  }

  async function chatOf({ to, group, service }: MessageTraits): Promise<string | undefined> {
    if (group?.chatId) return chats.group(group.chatId)
    if (group) return (await chats.groupWith(group.members))?.guid
    return (await chats.withPerson(to, service)) ?? chats.withPerson(to)
  }

  async function rowsFor(wanted: MessageTraits, after: number, isRetry = false): Promise<Row[]> {
    const chat = await chatOf(wanted)
    if (chat === undefined) return []
    return rowsInChat(mac, chat, after).catch((error) => {
      const isGone = error instanceof MacFault && error.answer.status === 404 && error.answer.isEnvelope
      if (!isGone || isRetry) throw error
      // The remembered chat may have another id by now.
      chats.forget(identifierOf(chat))
      return rowsFor(wanted, after, true)
    })
  }

  async function find(wanted: MessageTraits, since: number, ref: string): Promise<Row | undefined> {
    const rows = await rowsFor(wanted, since - SKEW_MS)
    const alike = rows.filter((row) => row.isFromMe && likeness(row, wanted) > 0)
    const taken = await idsOfOtherAttempts(
      alike.map((row) => row.guid),
      ref,
    )
    const notTaken = alike.filter((row) => !taken.has(row.guid))
    const free = await writtenSince(begun.get(ref), notTaken)
    // A failed row may belong to an earlier attempt.
    const worth = (row: Row) => likeness(row, wanted) + (row.error === 0 ? WHOLE : 0)
    const best = Math.max(0, ...free.map(worth))
    const found = free.find((row) => worth(row) === best)
    if (found) bind(found.guid, ref)
    return found
  }

  async function lookup(attempt: AttemptRef): Promise<Evidence> {
    // A location request leaves no message in the chat.
    if (attempt.extra?.requestsLocation) return { found: undefined }
    const now = mac.clock.now()
    const age = now - attempt.unknownSince
    const patience = filesOf(attempt).length > 0 ? FILE_SETTLE_MS : settleMs
    const again: Evidence = {
      found: undefined,
      againMs: Math.max(2000, Math.min(60_000, age / 4, age < patience ? patience - age : 60_000)),
    }
    const row = await find(attempt, attempt.wireAt, attempt.ref).catch(() => null)
    if (row === null) return again
    if (!row) {
      if (age < patience) return again
      return (await isHealthy()) ? { found: false } : again
    }
    // Only one part of a text with a file is there: the other part may still come, and the message must not be sent
    // again.
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
    isOther: async (guid, ref) => (await idsOfOtherAttempts([guid], ref)).has(guid),
    bind,
    lookup: (attempt) => lookup(attempt).catch(() => ({ found: undefined, againMs: 5000 })),
  }
}

const WHOLE = 2

/** How much of a message is in a row: 0 nothing, 1 a part, 2 all of it. */
export function likeness(row: Row, wanted: Pick<MessageTraits, 'content' | 'mediaUrl' | 'extra'>): 0 | 1 | 2 {
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

export function filesOf({ mediaUrl, extra }: Pick<MessageTraits, 'mediaUrl' | 'extra'>): readonly string[] {
  return extra?.mediaUrls ?? (mediaUrl ? [mediaUrl] : [])
}

/** Messages may change quotes and dashes, and trims spaces. */
export function comparable(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[“”„«»]/g, '"')
    .replace(/[‘’‚]/g, "'")
    .replace(/[–—]|--/g, '-')
    .replace(/…/g, '...')
    .replace(/[\s\u00a0\ufffc\u200b]+/g, '')
}
