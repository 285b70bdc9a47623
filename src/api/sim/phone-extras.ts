import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { cardSession } from '../../core/messages/app-card.js'
import type { PhoneMessage } from '../../core/sim/phone.js'
import type { Ctx } from '../../services/ctx.js'
import { findEarlierCard, listHandlesByProvider, listReactions } from '../../storage/sim/presence.js'
import { integer, nullable, optional, string, strings } from '../http/schemas.js'
import { AppCardWire, appCardWire } from '../messages/app-card-wire.js'

/** Parts of a message on a phone besides its text: images, cards, tapbacks. */

const ReactionWire = Type.Object(
  {
    by: string('Number of the phone or line that reacted'),
    reaction: string('love, like, dislike, laugh, emphasize, question or an emoji'),
    part_index: integer('Part of the message'),
    at: string('When'),
  },
  { title: 'PhoneReaction' },
)

export const screenFields = {
  media_urls: strings('All images, in order; empty when none'),
  app_card: optional(AppCardWire),
  session: nullable('string', 'Session of a card'),
  replaces: nullable('string', 'id of the earlier card of the session that this one replaces'),
  reactions: Type.Array(ReactionWire, { description: 'Tapbacks on the message' }),
  tapback_on: nullable(
    'string',
    'id of the message that this tapback belongs to; phones show it there and not as a text',
  ),
  message_handle: nullable(
    'string',
    "Trunkline's message handle; for a message from the phone, null until the line has received it",
  ),
}

type Screen = { [K in keyof typeof screenFields]: Static<(typeof screenFields)[K]> }

export type ScreenFields = Omit<Screen, 'app_card'> & Partial<Pick<Screen, 'app_card'>>

/** The account's handles of messages from phones, by the network's ids. */
async function handlesOf(
  ctx: Ctx,
  accountId: string,
  messages: readonly PhoneMessage[],
): Promise<Map<string, string>> {
  const written = messages.filter((message) => message.handle === null)
  const handles = new Map<string, string>()
  for (const lineId of new Set(written.map((message) => message.lineId))) {
    const ids = written.filter((message) => message.lineId === lineId).map((message) => message.providerId)
    for (const [id, handle] of await listHandlesByProvider(ctx.db, accountId, lineId, ids))
      handles.set(id, handle)
  }
  return handles
}

/** Reads the further fields of messages of one network. */
export async function screenOf(
  ctx: Ctx,
  { network, accountId }: { network: string; accountId: string },
  messages: readonly PhoneMessage[],
): Promise<(message: PhoneMessage) => ScreenFields> {
  const ids = messages.map((message) => message.providerId)
  const reactions = await listReactions(ctx.db, network, ids)
  const replaced = new Map<number, string>()
  for (const message of messages) {
    const session = cardSession(message.extra)
    const earlier = session && (await findEarlierCard(ctx.db, message, session))
    if (earlier) replaced.set(message.id, earlier)
  }
  const handles = await handlesOf(ctx, accountId, messages)
  return (message) => {
    const { extra, mediaUrl } = message
    return {
      media_urls: extra?.mediaUrls ?? (mediaUrl ? [mediaUrl] : []),
      ...(extra?.appCard ? { app_card: appCardWire(extra.appCard) } : {}),
      session: extra?.appCard?.sessionIdentifier ?? null,
      replaces: replaced.get(message.id) ?? null,
      reactions: reactions
        .filter(({ providerId }) => providerId === message.providerId)
        .map(({ by, reaction, partIndex, at }) => ({
          by,
          reaction,
          part_index: partIndex,
          at: formatTime(at),
        })),
      tapback_on: extra?.reaction?.providerId ?? null,
      message_handle: message.handle ?? handles.get(message.providerId) ?? null,
    }
  }
}
