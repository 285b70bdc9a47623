import { Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import { txOf } from '../../services/accounts/present.js'
import type { Ctx } from '../../services/ctx.js'
import { urlOf } from '../../services/media/media.js'
import { recordRead } from '../../services/messages/receipts.js'
import { textToChat } from '../../services/sim/group-acts.js'
import { readOnPhone, setPhone, textFromPhone, wakePhoneLines } from '../../services/sim/phones.js'
import { typingLines } from '../../services/sim/presence.js'
import { findPhone, listPhones } from '../../storage/sim/phones.js'
import { requirePhone } from '../http/fields.js'
import { answerOnce } from '../http/once.js'
import type { Routes } from '../http/routes.js'
import { integer, listOf, optional, string } from '../http/schemas.js'
import { answerWithMedia } from '../media/keep.js'
import { SendStyleSchema } from '../messages/wire-parts.js'
import { mediaOnPhone, PHONE_MEDIA_BODY, PhoneMedia } from './phone-media.js'
import { NewPhone, PhoneWire, phoneWire, Switches, switchesOf, Typing } from './phone-wire.js'
import { Params, phoneIn, SentWire, sim, simulatedAccount } from './shared.js'

/** Virtual phones, the contacts of simulated lines. */

const TextBody = Type.Object(
  {
    to: optional(string('A simulated line, E.164; required unless group_id is given')),
    group_id: optional(string('A group of the phone, by either of its ids')),
    content: optional(string('Text', { maxLength: 18_995 })),
    media_url: optional(string('Attached media', { maxLength: 2048 })),
    media: optional(PhoneMedia),
    send_style: optional(SendStyleSchema),
    reply_to: optional(string('id of the message on the phone to reply to')),
    reply_to_part: optional(integer('Part of that message', { minimum: 0, maximum: 10_000 })),
  },
  { title: 'PhoneText' },
)

export function registerSim(app: Routes, ctx: Ctx): void {
  app.get(
    '/sim/phones',
    sim({ operationId: 'listPhones', summary: 'List phones', response: { 200: listOf(PhoneWire) } }),
    async (request) => ({
      data: (await listPhones(ctx.db, (await simulatedAccount(ctx, request)).id, 1000)).map(phoneWire),
    }),
  )
  app.post(
    '/sim/phones',
    sim({
      operationId: 'savePhone',
      summary: 'Create or change a phone',
      example: { number: '+12025550143', name: 'Grace', imessage: true },
      body: NewPhone,
      response: { 201: PhoneWire },
    }),
    async (request, reply) => {
      const { body } = request
      const account = await simulatedAccount(ctx, request)
      const number = requirePhone('number', body.number)
      return answerOnce(ctx, reply, 'anew', async (sql) => {
        const { phone, lines } = await setPhone(ctx, sql, account.id, number, switchesOf(body))
        return { status: 201, body: phoneWire(phone), after: () => wakePhoneLines(ctx, lines) }
      })
    },
  )
  app.get(
    '/sim/phones/:number',
    sim({
      operationId: 'getPhone',
      summary: 'Show a phone',
      params: Params,
      response: { 200: Type.Object({ ...PhoneWire.properties, typing: Typing }) },
    }),
    async (request) => {
      const { account, number } = await phoneIn(ctx, request)
      const phone = await findPhone(ctx.db, account.id, number)
      if (!phone) throw new AppError('not_found', `There is no phone ${number}`)
      return { ...phoneWire(phone), typing: await typingLines(ctx, account, number) }
    },
  )
  app.patch(
    '/sim/phones/:number',
    sim({
      operationId: 'updatePhone',
      summary: 'Change the settings of a phone',
      params: Params,
      example: { power: false },
      body: Switches,
      response: { 200: PhoneWire },
    }),
    async (request) => {
      const { account, number } = await phoneIn(ctx, request)
      const switches = switchesOf(request.body)
      const { phone, lines } = await txOf(ctx, account.id, (sql) =>
        setPhone(ctx, sql, account.id, number, switches),
      )
      wakePhoneLines(ctx, lines)
      return phoneWire(phone)
    },
  )
  app.post(
    '/sim/phones/:number/messages',
    {
      ...sim({
        unaudited: 'message',
        operationId: 'sendFromPhone',
        summary: 'Send as a phone',
        params: Params,
        example: { to: '+12025550100', content: 'Hello from Ada' },
        body: TextBody,
        response: { 201: SentWire },
      }),
      bodyLimit: PHONE_MEDIA_BODY,
    },
    async (request, reply) => {
      const { body } = request
      if (!body.content && !body.media_url && !body.media)
        throw new AppError('invalid', 'missing required parameter: content (or media_url, or media)')
      const { account, number } = await phoneIn(ctx, request)
      const { group_id: groupId } = body
      if (groupId === undefined && body.to === undefined)
        throw new AppError('invalid', 'missing required parameter: to (or group_id)')
      const to = groupId === undefined ? requirePhone('to', body.to!) : ''
      const text = {
        to,
        content: body.content ?? '',
        mediaUrl: body.media_url ?? '',
        replyTo: body.reply_to ?? null,
        replyToPart: body.reply_to_part ?? null,
        sendStyle: body.send_style ?? '',
      }
      const draft = body.media ? await mediaOnPhone(ctx, account.id, body.media) : null
      if (draft) text.mediaUrl = urlOf(ctx, draft.media)
      return answerWithMedia(ctx, reply, draft, async (sql) => {
        const sent =
          groupId === undefined
            ? await textFromPhone(ctx, sql, account, number, text)
            : await textToChat(ctx, sql, account, number, groupId, text)
        const body = { id: sent.providerId, service: sent.service }
        return { status: 201, body, after: () => wakePhoneLines(ctx, [sent.lineId]) }
      })
    },
  )
  app.post(
    '/sim/phones/:number/read',
    sim({
      unaudited: 'message',
      operationId: 'readPhone',
      summary: 'Read all messages on a phone',
      params: Params,
      response: { 200: Type.Object({ read: integer('Number of messages that were unread') }) },
    }),
    async (request, reply) => {
      const { account, number } = await phoneIn(ctx, request)
      return answerOnce(ctx, reply, 'told', async (sql) => {
        const { unread, receipts } = await readOnPhone(ctx, sql, account, number)
        const report = async () => {
          for (const { lineId, ...receipt } of receipts) {
            const usable = await ctx.directory.line(lineId)
            if (usable)
              await recordRead(ctx, { line: usable.line, services: usable.capabilities.services }, receipt)
          }
        }
        return { status: 200, body: { read: unread }, after: report }
      })
    },
  )
}
