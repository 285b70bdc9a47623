import { AppError } from '../../core/errors.js'
import { parseReaction } from '../../core/messages/reaction.js'
import { findLatestWith } from '../../storage/insight/conversations.js'
import { listAttempts } from '../../storage/messages/attempts.js'
import { findMessage } from '../../storage/messages/messages.js'
import type { UsableLine } from '../accounts/directory.js'
import type { Ctx } from '../ctx.js'
import { ask } from '../lines/actions.js'
import { type Actor, checkPart, keepWithin, linesOf, requireLine } from './outbound.js'

/** Reactions, typing and reading. */

export interface ReactionInput {
  fromNumber: string
  handle: string
  reaction: string
  partIndex: number
}

export async function sendReaction(ctx: Ctx, actor: Actor, input: ReactionInput): Promise<void> {
  const parsed = parseReaction(input.reaction)
  if (!parsed) {
    throw new AppError(
      'invalid',
      'reaction: must be love, like, dislike, laugh, emphasize, question or exactly one emoji; a leading - takes it away',
      { errorCode: 'INVALID_REACTION' },
    )
  }
  keepWithin(actor, input.fromNumber)
  const from = (await linesOf(ctx, actor)).get(input.fromNumber)
  if (!from) {
    throw new AppError(
      'not_found',
      `This phone number is not defined: from_number ${input.fromNumber} is not a line of this account. GET /api/lines lists the lines.`,
    )
  }
  if (!from.capabilities.reactions)
    throw new AppError('invalid', 'from_number: this line cannot send reactions')
  const message = await findMessage(ctx.db, input.handle, actor.account.id)
  if (!message || message.lineId !== from.line.id) {
    throw new AppError('not_found', 'message_handle: there is no message with this handle on this line')
  }
  checkPart('part_index', message, input.partIndex)
  const providerId =
    message.providerId ?? (await listAttempts(ctx.db, message.id)).find((a) => a.providerId)?.providerId
  if (!providerId)
    throw new AppError(
      'unprocessable',
      'message_handle: the message has not been sent, so nothing can react to it',
    )
  if (message.service !== 'iMessage') {
    throw new AppError(
      'unprocessable',
      `message_handle: the message went by ${message.service}; reactions need iMessage`,
    )
  }
  await ask(ctx, from.line, 'react', {
    to: message.contact,
    groupId: message.groupId,
    providerId,
    partIndex: input.partIndex,
    ...parsed,
  })
}

export interface TypingInput {
  /** Undefined: the line of the conversation. */
  fromNumber: string | undefined
  number: string
  typing: boolean
  maxDurationMs: number
}

export async function sendTyping(ctx: Ctx, actor: Actor, input: TypingInput): Promise<void> {
  const { fromNumber, number, typing, maxDurationMs } = input
  const lines = fromNumber
    ? [await requireLine(ctx, actor, fromNumber)]
    : [...(await linesOf(ctx, actor)).values()]
  const from = await conversationLine(ctx, actor, number, lines)
  if (!from) {
    throw new AppError(
      'invalid',
      `No route mapping: there is no conversation with ${number} yet. Send a message first, or wait for one.`,
    )
  }
  if (!from.capabilities.typing) throw new AppError('invalid', 'from_number: this line cannot show typing')
  await ask(ctx, from.line, 'setTyping', { accountId: actor.account.id, to: number, typing, maxDurationMs })
}

/** Marks a conversation as read. Returns whether the sender gets a read receipt. */
export async function markRead(
  ctx: Ctx,
  actor: Actor,
  input: { fromNumber: string; number: string },
): Promise<{ told: boolean }> {
  const line = await requireLine(ctx, actor, input.fromNumber)
  const latest = await findLatestWith(ctx.db, actor.account.id, input.number, [line.line.id])
  if (!latest) throw new AppError('not_found', `There is no conversation with ${input.number} on this line`)
  // Marking works on every line; only lines with read receipts tell the sender.
  if (!line.capabilities.readReceipts || latest.service === 'SMS') return { told: false }
  await ask(ctx, line.line, 'markRead', { accountId: actor.account.id, to: input.number }).catch((error) => {
    // Clients mark every message and retry a 5xx by themselves: a lost mark is not worth three requests.
    if (error instanceof AppError && error.code === 'unavailable')
      throw new AppError('unprocessable', `${error.message}; the sender was not told`)
    throw error
  })
  return { told: true }
}

async function conversationLine(
  ctx: Ctx,
  actor: Actor,
  number: string,
  lines: readonly UsableLine[],
): Promise<UsableLine | undefined> {
  const ids = lines.map(({ line }) => line.id)
  const latest = await findLatestWith(ctx.db, actor.account.id, number, ids)
  return latest && lines.find(({ line }) => line.id === latest.lineId)
}
