import { Type } from 'typebox'
import { MAX_DATA_URL, UUID } from '../../core/messages/app-card.js'
import type { Ctx } from '../../services/ctx.js'
import { cardFromPhone, reactOnPhone, typeOnPhone } from '../../services/sim/presence.js'
import { requirePhone } from '../http/fields.js'
import { answerOnce } from '../http/once.js'
import type { Routes } from '../http/routes.js'
import { boolean, integer, optional, string } from '../http/schemas.js'
import { answerSent, Params, phoneIn, SentWire, sim } from './shared.js'

/** Tapbacks, typing and App Cards on a virtual phone. */

const id = (description: string) => optional(string(description, { minLength: 1, maxLength: 255 }))

const CardBody = Type.Object(
  {
    card: id('id of the card on the phone to reply to, in its session'),
    to: optional(string('A simulated line, E.164; for a card that starts a session')),
    url: string('State of the card', { minLength: 1, maxLength: MAX_DATA_URL }),
    extensionBundleId: id('Bundle id of the extension; default: that of the card replied to'),
    teamId: id('Team id of the app; default: that of the card replied to'),
    sessionIdentifier: optional(
      string('Id of a new session; default: a new one', {
        pattern: UUID.source.replaceAll('\\da-f', '\\da-fA-F'),
      }),
    ),
  },
  { title: 'PhoneAppCard' },
)

export function registerSimPresence(app: Routes, ctx: Ctx): void {
  app.post(
    '/sim/phones/:number/messages/:id/reactions',
    sim({
      unaudited: 'message',
      operationId: 'reactFromPhone',
      summary: 'React to a message as a phone',
      description: 'Reaches the line as a text like Loved “Hello”, and the event log as message.reaction.',
      params: Type.Object({
        number: string('The phone, E.164'),
        id: string("The network's id of a message on the phone"),
      }),
      example: { reaction: 'love' },
      body: Type.Object({
        reaction: string(
          'love, like, dislike, laugh, emphasize, question or one emoji; a leading - removes the reaction',
        ),
        part_index: optional(integer('Default 0', { minimum: 0, maximum: 10_000 })),
      }),
      response: { 201: SentWire },
    }),
    async (request, reply) => {
      const { account, number } = await phoneIn(ctx, request)
      const { reaction, part_index: partIndex = 0 } = request.body
      const input = { id: request.params.id, reaction, partIndex }
      return answerSent(ctx, reply, (sql) => reactOnPhone(ctx, sql, account, number, input))
    },
  )

  app.post(
    '/sim/phones/:number/typing',
    sim({
      unaudited: 'message',
      operationId: 'typeOnPhone',
      summary: 'Start or stop typing on a phone',
      description: 'A change reaches the event log as typing.changed.',
      params: Params,
      example: { to: '+12025550100', typing: true },
      body: Type.Object({
        to: string('A simulated line, E.164'),
        typing: boolean('Whether the person types'),
      }),
      response: { 200: Type.Object({ typing: boolean('Whether the person types') }) },
    }),
    async (request, reply) => {
      const { account, number } = await phoneIn(ctx, request)
      const { typing } = request.body
      const to = requirePhone('to', request.body.to)
      return answerOnce(ctx, reply, 'anew', async (sql) => {
        await typeOnPhone(ctx, sql, account, number, { to, typing })
        return { status: 200, body: { typing } }
      })
    },
  )

  app.post(
    '/sim/phones/:number/cards',
    sim({
      unaudited: 'message',
      operationId: 'sendAppCardFromPhone',
      summary: 'Send an App Card as a phone',
      description: 'Replies to a card on the phone with its next state, or starts a session.',
      params: Params,
      example: {
        to: '+12025550100',
        url: 'https://example.com/game?turn=1',
        extensionBundleId: 'com.example.game',
        teamId: 'ABCDE12345',
      },
      body: CardBody,
      response: { 201: SentWire },
    }),
    async (request, reply) => {
      const { account, number } = await phoneIn(ctx, request)
      const { body } = request
      const card = {
        card: body.card ?? null,
        to: body.to === undefined ? null : requirePhone('to', body.to),
        url: body.url,
        extensionBundleId: body.extensionBundleId ?? null,
        teamId: body.teamId ?? null,
        sessionIdentifier: body.sessionIdentifier ?? null,
      }
      return answerSent(ctx, reply, (sql) => cardFromPhone(ctx, sql, account, number, card))
    },
  )
}
