import { networkOf } from '../../core/accounts/account.js'
import type { Contact } from '../../core/contacts/contact.js'
import type { Group } from '../../core/groups/group.js'
import type { Message } from '../../core/messages/message.js'
import { findContacts } from '../../storage/contacts/contacts.js'
import { findGroups } from '../../storage/groups/groups.js'
import { findTurnsBetween } from '../../storage/insight/conversations.js'
import { listLineIds } from '../../storage/lines/lines.js'
import { findMessagesById } from '../../storage/messages/messages.js'
import {
  type ConversationKey,
  type MessagePosition,
  scanConversationKeys,
} from '../../storage/messages/scan.js'
import type { Ctx } from '../ctx.js'
import { type Actor, isWithin } from '../messages/outbound.js'

/** All messages between a line and a person or a group. */
export interface Conversation {
  last: Message
  contact: Contact | undefined
  group: Group | undefined
  heldUntil: number | undefined
}

/** Position in a list: after `below`. Conversations with a message between `top` and `below` were shown before. */
export interface ConversationPlace {
  below: MessagePosition
  top: MessagePosition
}

export interface ConversationPage {
  conversations: Conversation[]
  next: ConversationPlace | undefined
  /** Time of the oldest examined message; undefined if there was none. */
  lookedBackTo: number | undefined
}

/** Messages that one page examines, so that one busy conversation does not make it read them all. */
const LOOKED_AT = 5000
const AT_ONCE = 500

/**
 * Conversations by their latest message, newest first. There is no table of conversations, because every send would
 * have to maintain it. Messages are in that order already, and the first message of each conversation is its latest.
 */
export async function listConversations(
  ctx: Ctx,
  actor: Actor,
  place: ConversationPlace | undefined,
  limit: number,
): Promise<ConversationPage> {
  const accountId = actor.account.id
  const lineIds = await lineIdsOf(ctx, actor)
  const met = new Set<string>()
  const latest: ConversationKey[] = []
  let { below, top } = place ?? { below: undefined, top: undefined }
  let isWhole = false
  for (let looked = 0; looked < LOOKED_AT && latest.length < limit && !isWhole; looked += AT_ONCE) {
    const turns = await scanConversationKeys(
      ctx.db.aside(accountId),
      { accountId, lineIds, before: below },
      AT_ONCE,
    )
    top ??= turns[0]
    const fresh = turns.filter((turn) => !met.has(keyOf(turn)) && met.add(keyOf(turn)))
    // In small steps, so that no more is read than the page needs.
    for (let i = 0; i < fresh.length && latest.length < limit; i += limit) {
      const some = fresh.slice(i, i + limit)
      const shown = place && (await findTurnsBetween(ctx.db, accountId, some, place.below, place.top))
      latest.push(...some.filter((turn) => !shown?.has(turn)).slice(0, limit - latest.length))
    }
    below = latest.length === limit ? latest.at(-1) : (turns.at(-1) ?? below)
    isWhole = turns.length < AT_ONCE && (turns.length === 0 || below === turns.at(-1))
  }
  return {
    conversations: await describe(ctx, actor, latest),
    next: isWhole || !below || !top ? undefined : { below: placeOf(below), top: placeOf(top) },
    lookedBackTo: below?.createdAt,
  }
}

/** The lines that a token is limited to; undefined without such a limit. */
export async function lineIdsOf(ctx: Ctx, actor: Actor): Promise<string[] | undefined> {
  if (!actor.numbers) return undefined
  const network = networkOf(actor.account)
  return (await Promise.all([...actor.numbers].map((number) => listLineIds(ctx.db, network, number)))).flat()
}

async function describe(ctx: Ctx, actor: Actor, turns: readonly ConversationKey[]): Promise<Conversation[]> {
  if (turns.length === 0) return []
  const people = turns.filter((turn) => turn.groupId === null).map((turn) => turn.contact)
  const [messages, contacts, groups] = await Promise.all([
    findMessagesById(
      ctx.db,
      turns.map((turn) => turn.id),
    ),
    findContacts(ctx.db, actor.account.id, 'phone', people),
    findGroups(
      ctx.db,
      turns.flatMap((turn) => turn.groupId ?? []),
    ),
  ])
  return turns.flatMap((turn) => {
    const last = messages.get(turn.id)
    if (!last) return []
    const contact = turn.groupId === null ? contacts.get(turn.contact) : undefined
    return {
      last,
      // An actor who sees the conversation may not see what another line knows of the person.
      contact: isWithin(actor, contact?.lineNumber ?? '') ? contact : undefined,
      group: turn.groupId === null ? undefined : groups.get(turn.groupId),
      heldUntil: ctx.holds.until(turn.lineId, actor.account.id, turn.groupId ?? turn.contact),
    }
  })
}

function keyOf({ lineId, groupId, contact }: ConversationKey): string {
  return `${lineId} ${groupId ?? contact}`
}

function placeOf({ createdAt, id }: MessagePosition): MessagePosition {
  return { createdAt, id }
}
