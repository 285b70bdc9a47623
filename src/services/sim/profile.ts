import type { Account } from '../../core/accounts/account.js'
import type { Line } from '../../core/lines/line.js'
import { type Card, changedCard, EMPTY_CARD, profileOf } from '../../core/lines/profile.js'
import type { Profile, ProfileChange } from '../../drivers/contract.js'
import { requireCurrent } from '../../storage/lines/lines.js'
import { findPhone } from '../../storage/sim/phones.js'
import { findCard, giveCard, hasIMessageChat, listGivenCards, saveCard } from '../../storage/sim/profiles.js'
import type { Ctx, Platform } from '../ctx.js'

/** Names and photos in the simulated network, for lines. */
export function createProfileNetwork(ctx: Platform) {
  return {
    async profile(line: Line): Promise<Profile> {
      return profileOf((await findCard(ctx.db, line.id)) ?? EMPTY_CARD)
    },
    setProfile: (line: Line, change: ProfileChange): Promise<Profile> =>
      ctx.db.tx(async (sql) => {
        const card = changedCard((await findCard(sql, line.id)) ?? EMPTY_CARD, change)
        await saveCard(sql, line.id, card)
        await requireCurrent(sql, [line])
        return profileOf(card)
      }),
    giveCard: (
      line: Line,
      { accountId: network, to }: { accountId: string; to: string },
    ): Promise<'given' | 'no_profile' | 'no_chat'> =>
      ctx.db.tx(async (sql) => {
        const phone = await findPhone(sql, network, to)
        if (!phone?.imessage || !(await hasIMessageChat(sql, network, to, line.id, ctx.clock.now())))
          return 'no_chat'
        const card = await findCard(sql, line.id)
        if (!card || !profileOf(card).hasProfile) return 'no_profile'
        await giveCard(sql, { network, phone: to, lineId: line.id, card, at: ctx.clock.now() })
        await requireCurrent(sql, [line])
        return 'given'
      }),
  }
}

/** The names and photos that lines of this account shared with a phone. */
export async function cardsOnPhone(
  ctx: Ctx,
  account: Account,
  number: string,
): Promise<{ line: string; card: Card; at: number }[]> {
  const lines = new Map(
    [...(await ctx.directory.linesOf(account.id)).values()].map(({ line }) => [line.id, line.number]),
  )
  const cards = await listGivenCards(ctx.db, account.id, number)
  return cards.flatMap(({ lineId, card, at }) => {
    const line = lines.get(lineId)
    return line ? [{ line, card, at }] : []
  })
}
