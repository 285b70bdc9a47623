import type { Account } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import { typingEvent } from '../../core/lines/events.js'
import type { Line } from '../../core/lines/line.js'
import { balloonBundleId, isInboundCard } from '../../core/messages/app-card.js'
import type { MessageExtra } from '../../core/messages/extra.js'
import { parseReaction, tapbackText } from '../../core/messages/reaction.js'
import type { Phone, PhoneMessage, PhoneReaction } from '../../core/sim/phone.js'
import { topics } from '../../core/topics.js'
import type { Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { requireCurrent } from '../../storage/lines/lines.js'
import { isOnPhone, type NewPhoneMessage } from '../../storage/sim/messages.js'
import {
  deleteReaction,
  listCopies,
  listTypingLines,
  saveReaction,
  saveReadByLine,
  saveTyping,
} from '../../storage/sim/presence.js'
import type { Ctx, Platform } from '../ctx.js'
import { ownerOf } from '../messages/inbound/owner.js'
import { textToChat } from './group-acts.js'
import { requireSender, textFromPhone } from './phones.js'

/** Tapbacks, typing and reading in the simulated network, for lines. */
export function createPresenceBooks(ctx: Platform) {
  return {
    copies: (providerId: string) => listCopies(ctx.db, providerId),
    async react(
      line: Line,
      message: PhoneMessage,
      { remove, ...given }: { partIndex: number; reaction: string; remove: boolean },
    ): Promise<void> {
      const reaction = { ...given, providerId: message.providerId, by: line.number, at: ctx.clock.now() }
      await ctx.db.tx(async (sql) => {
        await keepReaction(sql, message.network, reaction, remove)
        await requireCurrent(sql, [line])
      })
    },
    async setTyping(line: Line, { network, number: phone }: Phone, forMs: number): Promise<void> {
      const until = ctx.clock.now() + forMs
      await ctx.db.tx(async (sql) => {
        await saveTyping(sql, { network, phone, lineId: line.id, fromPhone: false, until })
        await requireCurrent(sql, [line])
        sql.announce(topics.screens, network)
      })
      // Otherwise a screen without further news would show typing forever.
      if (forMs > 0) ctx.clock.after(forMs, () => ctx.wakes.wake(topics.screens, network))
    },
    async markRead(line: Line, ask: { accountId: string; to: string }): Promise<void> {
      await ctx.db.tx(async (sql) => {
        for (const network of await saveReadByLine(sql, line.id, ask, ctx.clock.now()))
          sql.announce(topics.screens, network)
      })
    },
  }
}

async function keepReaction(
  sql: Sql,
  network: string,
  reaction: PhoneReaction,
  remove: boolean,
): Promise<void> {
  if (remove) await deleteReaction(sql, network, reaction)
  else await saveReaction(sql, network, reaction)
  sql.announce(topics.screens, network)
}

/** Numbers of this account's lines that are typing to a phone now. */
export async function typingLines(ctx: Ctx, account: Account, phone: string): Promise<string[]> {
  const typing = new Set(await listTypingLines(ctx.db, account.id, phone, ctx.clock.now()))
  if (typing.size === 0) return []
  const lines = [...(await ctx.directory.linesOf(account.id)).values()]
  return lines.filter(({ line }) => typing.has(line.id)).map(({ line }) => line.number)
}

/** A message on the screen of this account's phone. */
async function requireOnPhone(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  number: string,
  id: string,
): Promise<PhoneMessage> {
  const copies = await listCopies(sql, id)
  const message = copies.find(({ network, phone }) => network === account.id && phone === number)
  if (!message || !(await isOnPhone(sql, message, ctx.clock.now())))
    throw new AppError('not_found', `There is no message ${id} on the phone ${number}`)
  return message
}

/** A person reacts to a message. The tapback goes to the line as the text that phones send. */
export async function reactOnPhone(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  number: string,
  input: { id: string; reaction: string; partIndex: number },
): Promise<NewPhoneMessage> {
  const parsed = parseReaction(input.reaction)
  if (!parsed)
    throw new AppError(
      'invalid',
      'reaction: must be one of the six names or one emoji, with - before it to take it away',
    )
  const target = await requireOnPhone(ctx, sql, account, number, input.id)
  const { reaction, remove } = parsed
  const { providerId } = target
  const mark = { providerId, partIndex: input.partIndex, reaction, by: number, at: ctx.clock.now() }
  const text = {
    to: target.lineNumber,
    content: tapbackText(parsed, target),
    mediaUrl: '',
    replyTo: null,
    extra: { reaction: { providerId, partIndex: input.partIndex, reaction, removed: remove } },
  }
  const sent = target.chatId
    ? await textToChat(ctx, sql, account, number, target.chatId, text)
    : await textFromPhone(ctx, sql, account, number, text)
  await keepReaction(sql, account.id, mark, remove)
  return sent
}

/** Infinite: a person types until they stop. */
const OPEN_END = Number.MAX_SAFE_INTEGER

/** A person starts or stops typing. Each change is one event for the line's account. */
export async function typeOnPhone(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  number: string,
  input: { to: string; typing: boolean },
): Promise<void> {
  const { line, phone } = await requireSender(ctx, sql, account, number, input.to)
  const now = ctx.clock.now()
  const before = await saveTyping(sql, {
    network: phone.network,
    phone: number,
    lineId: line.id,
    fromPhone: true,
    until: input.typing ? OPEN_END : now,
  })
  const accountId = await ownerOf(sql, line, number)
  if (!accountId || before > now === input.typing) return
  await appendEvents(sql, [typingEvent(accountId, line, number, input.typing, now)])
}

export interface PhoneCard {
  /** The card on the phone that is answered; its extension and session continue. */
  card: string | null
  to: string | null
  url: string
  extensionBundleId: string | null
  teamId: string | null
  sessionIdentifier: string | null
}

/** A person's extension sends a state of a card: an answer to a card, or a first one. */
export async function cardFromPhone(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  number: string,
  input: PhoneCard,
): Promise<NewPhoneMessage> {
  const answered = input.card ? await requireOnPhone(ctx, sql, account, number, input.card) : undefined
  const before = answered?.extra?.appCard
  if (answered && !before) throw new AppError('invalid', 'card: this message is no App Card')
  const to = answered?.lineNumber ?? input.to
  const extensionBundleId = input.extensionBundleId ?? before?.extensionBundleId
  const teamId = input.teamId ?? before?.teamId
  if (!to || !extensionBundleId || !teamId)
    throw new AppError('invalid', 'missing required parameter: card (or to, extensionBundleId and teamId)')
  const extra: MessageExtra = {
    appCard: {
      balloonBundleId: isInboundCard(before)
        ? before.balloonBundleId
        : balloonBundleId(teamId, extensionBundleId),
      extensionBundleId,
      teamId,
      sessionIdentifier: before?.sessionIdentifier ?? input.sessionIdentifier ?? ctx.newId().toUpperCase(),
      url: input.url,
      revision: 0,
    },
  }
  const text = { to, content: '', mediaUrl: '', replyTo: null, extra }
  const sent = await textFromPhone(ctx, sql, account, number, text)
  if (sent.service !== 'iMessage')
    throw new AppError('invalid', `The phone ${number} is not on iMessage, and cards need it`)
  return sent
}
