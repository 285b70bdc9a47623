import { uuidOf } from '../../../base/ids.js'
import type { Line } from '../../../core/lines/line.js'
import type { Inbound } from '../../../drivers/inbound.js'
import { type Sql, UniqueViolation } from '../../../storage/engine/db.js'
import { lockLine } from '../../../storage/lines/leases.js'
import {
  claimUnacknowledged,
  hasTwin,
  insertUnacknowledged,
  listLineSuccession,
  listRecentTexts,
  listStoredIds,
} from '../../../storage/messages/inbound-ids.js'
import type { Ctx } from '../../ctx.js'
import { createEchoLedger, type EchoProof } from './echo.js'
import type { HousedInbound } from './media.js'
import { ownerOf } from './owner.js'
import { takePart } from './parts.js'

/** A message as the driver delivered it, and in the form to store. */
export interface InboundItem {
  original: Inbound
  message: HousedInbound
}

/** A complete, new message that is not our own. */
export type NewInbound = HousedInbound & { providerId: string }

export interface SortedInbound {
  fresh: NewInbound[]
  repeats: number
  /** Our own messages, by evidence. */
  echoes: EchoProof[]
  /** Parts of long texts that wait for the missing ones. */
  parts: number
  /** Entries of messages without an id, kept until the carrier is acknowledged. */
  unacknowledged: [Inbound, string][]
}

/**
 * How long a carrier without ids may repeat a message that we did not acknowledge. It is short, because our note of
 * the acknowledgement can get lost, too, and then an equal new message would be taken for a repeat.
 */
export const UNACKNOWLEDGED_MS = 3_600_000
/** How long after its text a link preview may arrive. */
const PREVIEW_MS = 30_000
/** Tolerated difference between the carrier's clock and ours. */
const SKEW_MS = 24 * 3_600_000

/** Separates new messages from repeats and from our own. */
export async function sortOut(
  ctx: Ctx,
  sql: Sql,
  on: { line: Line; session: string },
  items: readonly InboundItem[],
  now: number,
): Promise<SortedInbound> {
  const { line } = on
  const sorted: SortedInbound = { fresh: [], repeats: 0, echoes: [], parts: 0, unacknowledged: [] }
  if (items.some(({ message }) => message.part)) await lockLine(sql, line.id)
  const messages = items.map((item) => item.message)
  const ids = messages.flatMap((message) => message.providerId ?? [])
  const stored = await listStoredIds(sql, await listLineSuccession(sql, line), ids)
  const echoProof = await createEchoLedger(sql, line, messages, now)
  const twins = new Set<string>()

  /** Whether the message is stored under another id. */
  async function isTwin(message: Inbound): Promise<boolean> {
    const { from, content, sentAt, group } = message
    const key = JSON.stringify([from, content, sentAt, group?.chatId])
    if (twins.has(key)) return true
    twins.add(key)
    const accountId = await ownerOf(sql, line, from, group)
    if (!accountId) return false
    const twin = { accountId, lineId: line.id, contact: from, content, sentAt }
    return hasTwin(sql, twin, Math.min(sentAt, now) - SKEW_MS)
  }

  /** Whether the sender has just sent this link in a text: then the preview is no message of its own. */
  async function isShown(message: Inbound): Promise<boolean> {
    const { from, content, group } = message
    const before = sorted.fresh.filter((one) => one.from === from && one.group?.chatId === group?.chatId)
    const accountId = await ownerOf(sql, line, from, group)
    const texts = accountId
      ? await listRecentTexts(sql, { accountId, lineId: line.id, contact: from }, now - PREVIEW_MS)
      : []
    return [...before.map((one) => one.content), ...texts].some((text) => text.includes(content.trim()))
  }

  for (const { original, message } of items) {
    const { providerId = ctx.newId().toUpperCase(), part } = message
    if (stored.has(providerId)) {
      sorted.repeats++
      continue
    }
    const proof = await echoProof(message, providerId)
    if (proof) {
      sorted.echoes.push(proof)
      continue
    }
    if (part && part.total > 1) {
      const { repeat, texts } = await takePart(sql, line.id, { ...message, part }, now)
      if (repeat) sorted.repeats++
      else if (texts.length === 0) sorted.parts++
      for (const text of texts) sorted.fresh.push({ ...text, providerId: text.providerId ?? providerId })
      continue
    }
    if (message.linkPreview && (await isShown(message))) {
      sorted.repeats++
      continue
    }
    if (message.providerId) {
      stored.add(providerId)
      if (message.unstableId && (await isTwin(message))) {
        sorted.repeats++
        continue
      }
    } else {
      const { from, service, content } = message
      const stamp = message.stamped ? [message.sentAt] : []
      const fingerprint = uuidOf(JSON.stringify([from, service, content, ...stamp]))
      const entry = { lineId: line.id, fingerprint, session: message.session ?? on.session }
      const since = now - UNACKNOWLEDGED_MS
      let brought = await claimUnacknowledged(sql, entry, since, 'skip')
      if (!brought && !(await insertUnacknowledged(sql, { id: providerId, ...entry }, now, since))) {
        brought = await claimUnacknowledged(sql, entry, since, 'wait')
        if (!brought) throw new UniqueViolation('an equal message was acknowledged at this moment')
      }
      sorted.unacknowledged.push([original, brought ?? providerId])
      if (brought) {
        sorted.repeats++
        continue
      }
    }
    sorted.fresh.push({ ...message, providerId })
  }
  return sorted
}
