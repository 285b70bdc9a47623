import type { Message } from '../../core/messages/message.js'
import type { Ctx } from '../../services/ctx.js'
import { findMessagesById } from '../../storage/messages/messages.js'
import type { QueueRow } from '../../storage/messages/queue.js'
import type { Entry } from './queue.js'

/**
 * The messages of entries. One that this process has just accepted is still in memory, and it is taken from there if
 * the table has said just now, in `seen`, that nobody has changed it.
 */
export async function readWaiting(
  ctx: Ctx,
  entries: readonly Entry[],
  seen: readonly QueueRow[],
): Promise<Message[]> {
  const versions = new Map(seen.map(({ id, version }) => [id, version]))
  const known: Message[] = []
  const others: number[] = []
  for (const { id, handle } of entries) {
    const message = ctx.acceptance.recent(handle)
    if (message && message.version === versions.get(id)) known.push({ ...message, id })
    else others.push(id)
  }
  if (others.length === 0) return known
  return [...known, ...(await findMessagesById(ctx.db, others)).values()]
}
