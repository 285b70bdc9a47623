import { type TSchema, Type } from 'typebox'
import { handlesOf } from '../core/group.js'
import type { Ctx } from '../ctx.js'
import { type GroupChange, recordChange, renameGroup, setGroupPhoto } from '../services/group-actions.js'
import { copyPhoto } from '../services/group-photo.js'
import { requireGroup } from '../services/groups.js'
import { isWithin } from '../services/outbound.js'
import { findContacts } from '../storage/contacts.js'
import { findLatestMessage } from '../storage/groups.js'
import { actorOf } from './auth.js'
import { aboutField, checkUrl, requirePhone } from './fields.js'
import { GroupName, GroupPhotoWire, GroupWire, groupName, groupWire, photoWire } from './group-wire.js'
import { nullable } from './message-wire.js'
import { answeredBefore, answerOnce } from './once.js'
import type { Routes } from './routes.js'

const Params = Type.Object({ group_id: Type.String({ description: 'The group' }) })

const ActingLine = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The line that has to do it, E.164; without, the line of the group',
  }),
)

const changed = <T extends Record<string, TSchema>>(data: T) =>
  Type.Object({
    status: Type.String({ description: 'OK' }),
    data: Type.Object({
      group_id: Type.String({ description: 'The group' }),
      ...data,
      from_number: Type.String({ description: 'The line that did it' }),
    }),
  })

/** A group's own page: who is in it, its name and its photo. */
export function registerGroupDetails(app: Routes, ctx: Ctx): void {
  const config = { access: 'account', confined: 'to its lines' } as const
  const tags = ['Groups']

  app.get(
    '/api/v2/groups/:group_id',
    {
      config,
      schema: {
        tags,
        summary: 'Retrieve a group',
        params: Params,
        response: { 200: Type.Object({ status: Type.String({ description: 'OK' }), data: GroupWire }) },
      },
    },
    async (request) => {
      const actor = actorOf(request)
      const group = await requireGroup(ctx, actor, request.params.group_id)
      const [latest, contacts] = await Promise.all([
        findLatestMessage(ctx.db, group),
        findContacts(ctx.db, group.accountId, 'phone', handlesOf(group)),
      ])
      const seen = [...contacts].filter(([, { lineNumber }]) => isWithin(actor, lineNumber ?? ''))
      return { status: 'OK', data: groupWire(group, latest, new Map(seen)) }
    },
  )

  app.post(
    '/api/v2/groups/:group_id/name',
    {
      config,
      schema: {
        tags,
        summary: 'Rename a group',
        description: 'Answers when the phones of the group show the name. Sending the same again is safe.',
        params: Params,
        body: Type.Object({
          group_name: Type.Unsafe<string | null>({ ...GroupName, type: ['string', 'null'] }),
          from_number: ActingLine,
        }),
        response: { 200: changed({ group_name: Type.String({ description: 'Empty when it was cleared' }) }) },
      },
    },
    async (request, reply) => {
      const earlier = await answeredBefore<never>(ctx, request, reply)
      if (earlier) return earlier
      const change = await renameGroup(ctx, actorOf(request), {
        groupId: request.params.group_id,
        name: groupName('group_name', request.body.group_name),
        fromNumber: actingNumber(request.body.from_number),
      })
      return answerOnce(ctx, request, reply, async (sql) => {
        const { name } = await recordChange(ctx, sql, change)
        return { status: 200, body: answer(change, { group_name: name ?? '' }) }
      })
    },
  )

  app.post(
    '/api/v2/groups/:group_id/photo',
    {
      config,
      schema: {
        tags,
        summary: "Change a group's photo",
        description:
          'Answers when the phones of the group show the photo. A JPEG, PNG or GIF of at most 5 MB and 25 million pixels; redirects are not followed. We keep a copy, and its address is what is shown.',
        params: Params,
        body: Type.Object({
          photo_url: nullable('string', 'Direct HTTPS URL of a JPEG, PNG or GIF; null takes the photo away'),
          from_number: ActingLine,
        }),
        response: { 200: changed({ group_photo: GroupPhotoWire }) },
      },
    },
    async (request, reply) => {
      const earlier = await answeredBefore<never>(ctx, request, reply)
      if (earlier) return earlier
      const actor = actorOf(request)
      const url = (request.body.photo_url as string | null) || null
      checkUrl(ctx, 'photo_url', url ?? undefined)
      const change = await setGroupPhoto(ctx, actor, {
        groupId: request.params.group_id,
        takePhoto: async () => url && aboutField('photo_url', copyPhoto(ctx, actor.account, url)),
        fromNumber: actingNumber(request.body.from_number),
      })
      return answerOnce(ctx, request, reply, async (sql) => {
        const { photo } = await recordChange(ctx, sql, change)
        return { status: 200, body: answer(change, { group_photo: photoWire(photo) }) }
      })
    },
  )
}

function actingNumber(fromNumber: string | null | undefined): string | null {
  return fromNumber ? requirePhone('from_number', fromNumber) : null
}

function answer<T extends object>({ group, from }: GroupChange, data: T) {
  return { status: 'OK', data: { group_id: group.id, ...data, from_number: from.line.number } }
}
