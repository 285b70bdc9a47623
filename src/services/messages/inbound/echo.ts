import type { Line } from '../../../core/lines/line.js'
import { isCopy } from '../../../core/messages/echo.js'
import type { Inbound } from '../../../drivers/inbound.js'
import type { Sql } from '../../../storage/engine/db.js'
import { findGroupByChat } from '../../../storage/groups/groups.js'
import { listLineNumbers } from '../../../storage/lines/lines.js'
import { findPartRefs } from '../../../storage/messages/attempt-parts.js'
import { findAttemptsByProvider, findAttemptsByRef } from '../../../storage/messages/attempts.js'
import {
  hasSent,
  insertEcho,
  isKnownEcho,
  listEchoCandidates,
} from '../../../storage/messages/inbound-ids.js'
import { ownerOf } from './owner.js'

/** Evidence that an inbound message is our own. Only `text` is a judgement; the others are certain. */
export type EchoProof = 'from_me' | 'id' | 'ref' | 'text'

/** A copy of a send comes back within minutes of its attempt, however long the message was queued before. */
const ECHO_MS = 10 * 60_000
const QUEUED_MS = 24 * 3_600_000

/**
 * Finds inbound messages that are copies of our sends. The id or ref of a send is proof. An equal text counts only
 * if the driver says that the message may be ours, or if the sender is one of our lines that did not send it. Each
 * send explains one copy, so that a person who repeats our words is still heard.
 */
export async function createEchoLedger(sql: Sql, line: Line, items: readonly Inbound[], now: number) {
  const ids = items.flatMap((item) => (item.fromMe ? [] : (item.providerId ?? [])))
  const [byId, byPart, byRef, ours] = await Promise.all([
    findAttemptsByProvider(sql, line.id, ids),
    findPartRefs(sql, line.id, ids),
    findAttemptsByRef(
      sql,
      items.flatMap((item) => item.ref ?? []),
    ),
    listLineNumbers(
      sql,
      line.network,
      items.map((item) => item.from),
    ),
  ])

  async function mayBeCopy(item: Inbound): Promise<boolean> {
    if (item.mayBeEcho) return true
    if (item.group || !ours.has(item.from)) return false
    if (item.from === line.number) return true
    const to = { contact: line.number, content: item.content }
    return !(await hasSent(sql, { network: line.network, number: item.from }, to, now - QUEUED_MS))
  }

  return async (item: Inbound, providerId: string): Promise<EchoProof | undefined> => {
    if (item.fromMe) return 'from_me'
    if (item.providerId && (byId.has(item.providerId) || byPart.has(item.providerId))) return 'id'
    if (item.ref && byRef.get(item.ref)?.lineId === line.id) return 'ref'
    if (!(await mayBeCopy(item))) return undefined
    if (await isKnownEcho(sql, line.id, providerId)) return 'text'
    const accountId = await ownerOf(sql, line, item.from, item.group)
    const conversation = item.group
      ? ((await findGroupByChat(sql, line.id, item.group.chatId))?.id ?? item.group.groupId)
      : item.from
    if (!accountId || conversation === null) return undefined
    const sends = await listEchoCandidates(
      sql,
      { accountId, lineId: line.id, conversation },
      { createdAt: now - QUEUED_MS, wireAt: now - ECHO_MS },
    )
    const send = sends.find((one) => isCopy(one, item))
    if (!send) return undefined
    await insertEcho(sql, { ref: send.ref, lineId: line.id, providerId, at: now })
    return 'text'
  }
}
