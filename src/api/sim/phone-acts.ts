import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { AppError } from '../../core/errors.js'
import { profileOf } from '../../core/lines/profile.js'
import type { Ctx } from '../../services/ctx.js'
import { textFromPhone } from '../../services/sim/phones.js'
import { cardsOnPhone } from '../../services/sim/profile.js'
import { deletePhone } from '../../storage/sim/removal.js'
import { requirePhone } from '../http/fields.js'
import type { Routes } from '../http/routes.js'
import { boolean, nullable, optional, string } from '../http/schemas.js'
import { answerSent, Params, phoneIn, SentWire, sim } from './shared.js'

/** Opting out on a phone, deleting a phone, and the profiles of lines that a phone received. */
export function registerSimPhoneActs(app: Routes, ctx: Ctx): void {
  app.post(
    '/sim/phones/:number/opt-out',
    sim({
      operationId: 'setPhoneOptOut',
      summary: 'Opt out, or in again, on a phone',
      description: 'The phone texts STOP, or START, to the line.',
      params: Params,
      example: { to: '+12025550100', opted_out: true },
      body: Type.Object({
        to: string('A simulated line, E.164'),
        opted_out: optional(boolean('false: opts in again; default true')),
      }),
      response: { 201: SentWire },
    }),
    async (request, reply) => {
      const { account, number } = await phoneIn(ctx, request)
      const text = {
        to: requirePhone('to', request.body.to),
        content: (request.body.opted_out ?? true) ? 'STOP' : 'START',
        mediaUrl: '',
        replyTo: null,
      }
      return answerSent(ctx, reply, (sql) => textFromPhone(ctx, sql, account, number, text))
    },
  )
  app.delete(
    '/sim/phones/:number',
    sim({
      operationId: 'deletePhone',
      summary: 'Delete a phone',
      description:
        'Deletes the phone with everything it shows; messages on their way to it never arrive. A later message to the number creates a new phone.',
      params: Params,
      response: {
        200: Type.Object({
          number: string('E.164'),
          deleted: boolean('Always true'),
        }),
      },
    }),
    async (request) => {
      const { account, number } = await phoneIn(ctx, request)
      if (!(await ctx.db.tx((sql) => deletePhone(sql, account.id, number))))
        throw new AppError('not_found', `There is no phone ${number}`)
      return { number, deleted: true }
    },
  )
  app.get(
    '/sim/phones/:number/cards',
    sim({
      operationId: 'listPhoneCards',
      summary: 'List the names and photos of lines that a phone received',
      params: Type.Object({ number: string('The phone, E.164') }),
      response: {
        200: Type.Object({
          data: Type.Array(
            Type.Object({
              line: string('The line'),
              name: nullable('string', 'Display name'),
              first_name: nullable('string', 'First name'),
              last_name: nullable('string', 'Last name'),
              photo_url: nullable('string', 'URL of the photo'),
              at: string('When it was shared'),
            }),
          ),
        }),
      },
    }),
    async (request) => {
      const { account, number } = await phoneIn(ctx, request)
      const cards = await cardsOnPhone(ctx, account, number)
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
