import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { profileOf } from '../../core/lines/profile.js'
import type { Ctx } from '../../services/ctx.js'
import { cardsOnPhone } from '../../services/sim/profile.js'
import { requirePhone } from '../http/fields.js'
import type { Routes } from '../http/routes.js'
import { nullable, string } from '../http/schemas.js'
import { sim, simulatedAccount } from './shared.js'

/** The names and photos that phones were given by lines. */
export function registerSimProfile(app: Routes, ctx: Ctx): void {
  app.get(
    '/sim/phones/:number/cards',
    sim({
      summary: 'Names and photos of lines that a phone was given',
      params: Type.Object({ number: string('The phone, E.164') }),
      response: {
        200: Type.Object({
          data: Type.Array(
            Type.Object({
              line: string('The line'),
              name: nullable('string', 'What the phone shows as its name'),
              first_name: nullable('string', 'First name'),
              last_name: nullable('string', 'Last name'),
              photo_url: nullable('string', 'Its photo'),
              at: string('When it was given'),
            }),
          ),
        }),
      },
    }),
    async (request) => {
      const account = await simulatedAccount(ctx, request)
      const cards = await cardsOnPhone(ctx, account, requirePhone('number', request.params.number))
      return {
        data: cards.map(({ line, card, at }) => ({
          line,
          name: profileOf(card).displayName,
          first_name: card.firstName,
          last_name: card.lastName,
          photo_url: card.photoUrl,
          at: formatTime(at),
        })),
      }
    },
  )
}
