import { uuidOf } from '../../../base/ids.js'
import type { Inbound } from '../../../drivers/inbound.js'
import { type Sql, UniqueViolation } from '../../../storage/engine/db.js'
import {
  closeParts,
  insertPart,
  isKnownPart,
  listParts,
  type MessagePart,
} from '../../../storage/messages/inbound-parts.js'

/** How long parts wait for the missing ones. After that the text is stored with a gap. */
const WAIT_MS = 5 * 60_000
/** Carriers reuse their one- or two-byte refs, so older parts do not match. Also how long an equal part without an id is a repeat. */
const SAME_REF_MS = 3_600_000

export interface PartVerdict {
  /** The part is stored already. */
  repeat: boolean
  /** Texts to store now: the text that this part completes, or an older text whose ref the carrier has reused. */
  texts: Inbound[]
}

/** Keeps a part until the text is complete. The caller holds the line's lock: two parts may arrive at once. */
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
  // Without an id, position and text identify a part.
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

/** Joins the parts in order and marks missing ones. */
export async function join(sql: Sql, parts: readonly MessagePart[]): Promise<Inbound> {
  const ordered = [...parts].sort((a, b) => a.n - b.n)
  const first = ordered[0]!
  const ids = parts.map((part) => part.id)
  // Another transaction has just stored the text, because a part was overdue.
  if ((await closeParts(sql, ids)) < ids.length) throw new UniqueViolation('the parts belong to a message')
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
