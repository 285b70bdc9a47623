import { uuidOf } from '../../../base/ids.js'
import type { Inbound } from '../../../drivers/inbound.js'
import type { Sql } from '../../../storage/engine/db.js'
import {
  closeParts,
  insertPart,
  isKnownPart,
  listParts,
  type MessagePart,
} from '../../../storage/messages/inbound-parts.js'

/** How long parts wait for each other. A text with a hole is worth more than none, but not at once. */
const WAIT_MS = 5 * 60_000
/** Carriers count their refs in a byte or two, so an old one says nothing. Without ids, this is also how long an equal part is a repeat. */
const SAME_REF_MS = 3_600_000

export interface PartVerdict {
  /** We have had this part already. */
  repeat: boolean
  /** Texts that are to be stored now: the one this part completed, or one whose ref it shows to be used anew. */
  texts: Inbound[]
}

/** Keeps a part until the others are there. The line must be locked: two parts may come at once. */
export async function takePart(
  sql: Sql,
  lineId: string,
  item: Inbound & { part: NonNullable<Inbound['part']> },
  now: number,
): Promise<PartVerdict> {
  const { ref, n, total } = item.part
  const whole = { lineId, sender: item.from, ref, total }
  const digest = uuidOf(item.content)
  const again = { repeat: true, texts: [] }
  if (item.providerId && (await isKnownPart(sql, lineId, item.providerId))) return again
  const same = await listParts(sql, whole, now - SAME_REF_MS)
  let waiting = same.filter((part) => part.dueAt !== null)
  const twin = (part: MessagePart) => part.n === n && part.digest === digest
  // Without an id only its place and its text can tell.
  if ((item.providerId ? waiting : same).some(twin)) return again
  const texts: Inbound[] = []
  if (waiting.some((part) => part.n === n)) {
    texts.push(await join(sql, waiting))
    waiting = []
  }
  await insertPart(sql, {
    ...whole,
    n,
    providerId: item.providerId ?? null,
    digest,
    content: item.content,
    service: item.service,
    sentAt: item.sentAt,
    receivedAt: now,
    dueAt: waiting[0]?.dueAt ?? now + WAIT_MS,
  })
  if (waiting.length + 1 === total) {
    const all = (await listParts(sql, whole, now - SAME_REF_MS)).filter((part) => part.dueAt !== null)
    texts.push(await join(sql, all))
  }
  return { repeat: false, texts }
}

/** Makes one text of the parts there are, in their order. Where some are missing it says so. */
export async function join(sql: Sql, parts: readonly MessagePart[]): Promise<Inbound> {
  const ordered = [...parts].sort((a, b) => a.n - b.n)
  const first = ordered[0]!
  await closeParts(
    sql,
    parts.map((part) => part.id),
  )
  const received = ordered.map((part) => part.n)
  const content = Array.from({ length: first.total }, (_, i) =>
    ordered.find((part) => part.n === i + 1),
  ).reduce((text, part) => text + (part ? part.content : text.endsWith('…') ? '' : '…'), '')
  return {
    ...(first.providerId === null ? {} : { providerId: first.providerId }),
    from: first.sender,
    service: first.service,
    content,
    sentAt: Math.min(...parts.map((part) => part.sentAt)),
    ...(parts.length < first.total ? { extra: { partial: { received, expected: first.total } } } : {}),
  }
}
