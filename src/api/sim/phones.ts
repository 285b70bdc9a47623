import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { networkOf } from '../../core/account.js'
import { AppError } from '../../core/errors.js'
import { formatTime } from '../../core/time.js'
import type { Ctx } from '../../ctx.js'
import { urlOf } from '../../services/media.js'
import { textToChat } from '../../services/phone-group-acts.js'
import { readOnPhone, setPhone, textFromPhone, wakePhoneLines } from '../../services/phones.js'
import { recordRead } from '../../services/receipts.js'
import { listLines } from '../../storage/lines.js'
import { findPhoneGroups } from '../../storage/phone-groups.js'
import { findPhone, listPhoneMessages, listPhones } from '../../storage/phones.js'
import { requirePhone } from '../fields.js'
import { answerWithMedia } from '../keep-media.js'
import { answerOnce } from '../once.js'
import type { Routes } from '../routes.js'
import { networkFor, simulatedAccount } from './account.js'
import { mediaOnPhone, PHONE_MEDIA_BODY, PhoneMedia } from './phone-media.js'
import {
  NewPhone,
  PhoneMessageWire,
  PhoneWire,
  phoneMessageWire,
  phoneWire,
  Switches,
  switchesOf,
} from './phone-wire.js'

/** The other side of simulated lines: phones one can look at, type on and switch off, and their time. */

const TextBody = Type.Object({
  to: Type.Optional(Type.String({ description: 'A simulated line, E.164; needed unless group_id is given' })),
  group_id: Type.Optional(
    Type.String({
      description: 'A group that the phone is in, by either of its ids: everyone in it gets it',
    }),
  ),
  content: Type.Optional(Type.String({ maxLength: 18_995, description: 'Text' })),
  media_url: Type.Optional(Type.String({ maxLength: 2048, description: 'Attached media' })),
  media: Type.Optional(PhoneMedia),
  reply_to: Type.Optional(
    Type.String({ description: 'id of the message on the phone that this one answers' }),
  ),
})

const Params = Type.Object({ number: Type.String({ description: 'The phone, E.164' }) })
const Clock = Type.Object({ now: Type.String({ description: 'Time of the simulated world' }) })

export function registerSim(app: Routes, ctx: Ctx, options: { advance(ms: number): Promise<void> }): void {
  const config = { access: 'account' as const }
  const tags = ['Simulator']
  const phoneNumber = (request: FastifyRequest) =>
    requirePhone('number', (request.params as { number: string }).number)

  app.get(
    '/sim/phones',
    {
      config,
      schema: {
        tags,
        summary: 'List phones',
        response: { 200: Type.Object({ data: Type.Array(PhoneWire) }) },
      },
    },
    async (request) => ({
      data: (await listPhones(ctx.db, await networkFor(ctx, request), 1000)).map(phoneWire),
    }),
  )
  app.post(
    '/sim/phones',
    {
      config,
      schema: { tags, summary: 'Make or change a phone', body: NewPhone, response: { 201: PhoneWire } },
    },
    async (request, reply) => {
      const { body } = request
      const network = await networkFor(ctx, request)
      const number = requirePhone('number', body.number)
      const woken: string[] = []
      return answerOnce(
        ctx,
        request,
        reply,
        async (sql) => {
          const { phone, lines } = await setPhone(ctx, sql, network, number, switchesOf(body))
          woken.push(...lines)
          return { status: 201, body: phoneWire(phone) }
        },
        { after: () => wakePhoneLines(ctx, woken) },
      )
    },
  )
  app.get(
    '/sim/phones/:number',
    { config, schema: { tags, summary: 'Show a phone', params: Params, response: { 200: PhoneWire } } },
    async (request) => {
      const number = phoneNumber(request)
      const phone = await findPhone(ctx.db, await networkFor(ctx, request), number)
      if (!phone) throw new AppError('not_found', `There is no phone ${number}`)
      return phoneWire(phone)
    },
  )
  app.patch(
    '/sim/phones/:number',
    {
      config,
      schema: {
        tags,
        summary: "Switch a phone's abilities",
        params: Params,
        body: Switches,
        response: { 200: PhoneWire },
      },
    },
    async (request) => {
      const network = await networkFor(ctx, request)
      const { phone, lines } = await ctx.db.tx((sql) =>
        setPhone(ctx, sql, network, phoneNumber(request), switchesOf(request.body)),
      )
      wakePhoneLines(ctx, lines)
      return phoneWire(phone)
    },
  )
  app.post(
    '/sim/phones/:number/messages',
    {
      config,
      bodyLimit: PHONE_MEDIA_BODY,
      schema: {
        tags,
        summary: 'Send as a phone',
        params: Params,
        body: TextBody,
        response: {
          201: Type.Object({
            id: Type.String({ description: "The network's id" }),
            service: Type.String({ description: 'Service used' }),
          }),
        },
      },
    },
    async (request, reply) => {
      const { body } = request
      if (!body.content && !body.media_url && !body.media)
        throw new AppError('invalid', 'missing required parameter: content (or media_url, or media)')
      const account = await simulatedAccount(ctx, request)
      const { group_id: groupId } = body
      if (groupId === undefined && body.to === undefined)
        throw new AppError('invalid', 'missing required parameter: to (or group_id)')
      const to = groupId === undefined ? requirePhone('to', body.to!) : ''
      const text = {
        to,
        content: body.content ?? '',
        mediaUrl: body.media_url ?? '',
        replyTo: body.reply_to ?? null,
      }
      const draft = body.media ? await mediaOnPhone(ctx, account.id, body.media) : null
      if (draft) text.mediaUrl = urlOf(ctx, draft.media)
      let line = ''
      return answerWithMedia(
        ctx,
        request,
        reply,
        draft,
        async (sql) => {
          const sent =
            groupId === undefined
              ? await textFromPhone(ctx, sql, account, phoneNumber(request), text)
              : await textToChat(ctx, sql, account, phoneNumber(request), groupId, text)
          line = sent.lineId
          return { status: 201, body: { id: sent.providerId, service: sent.service } }
        },
        () => wakePhoneLines(ctx, [line]),
      )
    },
  )
  app.post(
    '/sim/phones/:number/read',
    {
      config,
      schema: {
        tags,
        summary: 'Read everything on a phone',
        params: Params,
        response: { 200: Type.Object({ read: Type.Integer({ description: 'Messages that were unread' }) }) },
      },
    },
    async (request, reply) => {
      const account = await simulatedAccount(ctx, request)
      let receipts: Awaited<ReturnType<typeof readOnPhone>>['receipts'] = []
      const report = async () => {
        for (const { lineId, ...receipt } of receipts) {
          const usable = await ctx.directory.line(lineId)
          if (usable)
            await recordRead(ctx, { line: usable.line, services: usable.capabilities.services }, receipt)
        }
      }
      return answerOnce(
        ctx,
        request,
        reply,
        async (sql) => {
          const read = await readOnPhone(ctx, sql, account, phoneNumber(request))
          receipts = read.receipts
          return { status: 200, body: { read: read.unread } }
        },
        { after: report },
      )
    },
  )
  app.get(
    '/sim/phones/:number/inbox',
    {
      config,
      schema: {
        tags,
        summary: 'What a phone shows, oldest first',
        params: Params,
        querystring: Type.Object({
          after: Type.Optional(Type.Integer({ minimum: 0, description: 'Only after this cursor' })),
          limit: Type.Optional(Type.Integer({ minimum: 1, description: 'At most 1000; default 100' })),
        }),
        response: {
          200: Type.Object({
            data: Type.Array(PhoneMessageWire),
            cursor: Type.Integer({ description: 'Where to go on' }),
          }),
        },
      },
    },
    async (request) => {
      const { after = 0, limit = 100 } = request.query
      const account = await simulatedAccount(ctx, request)
      const messages = await listPhoneMessages(
        ctx.db,
        { network: networkOf(account), accountId: account.id },
        phoneNumber(request),
        Math.min(after, Number.MAX_SAFE_INTEGER),
        Math.min(limit, 1000),
      )
      const chats = await findPhoneGroups(
        ctx.db,
        messages.flatMap((message) => message.chatId ?? []),
      )
      const data = messages.map((message) => phoneMessageWire(message, chats.get(message.chatId ?? '')))
      return { data, cursor: messages.at(-1)?.id ?? after }
    },
  )
  app.get(
    '/sim/clock',
    { config, schema: { tags, summary: 'Time of the simulated world', response: { 200: Clock } } },
    async () => ({ now: formatTime(ctx.clock.now()) }),
  )
  app.post(
    '/sim/clock',
    {
      config,
      schema: {
        tags,
        summary: 'Move time ahead',
        description:
          'Everything that falls due on the way happens at its time. Only while every line is simulated.',
        body: Type.Object({
          advance_ms: Type.Integer({ minimum: 0, maximum: 366 * 86_400_000, description: 'Milliseconds' }),
        }),
        response: { 200: Clock },
      },
    },
    async (request, reply) => {
      if ((await listLines(ctx.db)).some((line) => line.driver !== 'simulator')) {
        throw new AppError('forbidden', 'There are real lines here, and their time cannot be moved')
      }
      const { advance_ms: ms } = request.body
      return answerOnce(
        ctx,
        request,
        reply,
        async () => ({ status: 200, body: { now: formatTime(ctx.clock.now() + ms) } }),
        { after: () => options.advance(ms) },
      )
    },
  )
}
