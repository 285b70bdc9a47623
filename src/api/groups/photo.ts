import { hash } from 'node:crypto'
import multipart from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { recordChange, setGroupPhoto } from '../../services/groups/actions.js'
import { copyPhoto, keepPhoto, MAX_PHOTO_BYTES } from '../../services/groups/photo.js'
import type { Sql } from '../../storage/engine/db.js'
import { findGroup } from '../../storage/groups/groups.js'
import { actorOf } from '../http/auth.js'
import { aboutField, checkUrl } from '../http/fields.js'
import { answeredBefore, answerOnce } from '../http/once.js'
import { type Routes, routesOf } from '../http/routes.js'
import { nullable } from '../http/schemas.js'
import { ActingLine, actingNumber, answer, changeAnswer, Params } from './details.js'
import { GroupPhotoWire, photoWire } from './wire.js'

const route = routesOf('Groups', { access: 'account', confined: 'to its lines' })

const PhotoAnswer = changeAnswer({ group_photo: GroupPhotoWire })

/** Uploaded photos of requests in progress. */
const files = new WeakMap<FastifyRequest, Buffer>()

export async function registerGroupPhoto(app: Routes, ctx: Ctx): Promise<void> {
  await app.register(async (scope: Routes) => {
    await scope.register(multipart, {
      limits: { fileSize: MAX_PHOTO_BYTES + 1, files: 2, fields: 20, fieldSize: 65_536, headerPairs: 20 },
      throwFileSizeLimit: false,
    })
    scope.post(
      '/api/v2/groups/:group_id/photo',
      route({
        operationId: 'setGroupPhoto',
        summary: "Change a group's photo",
        description:
          'Answers when the phones of the group show the photo. A JPEG, PNG or GIF of at most 5 MB and 25 million pixels; redirects are not followed. Trunkline stores a copy and returns its URL. Instead of a URL, the photo can be sent as the part "file" of a multipart form.',
        consumes: ['application/json', 'multipart/form-data'],
        params: Params,
        example: { photo_url: null },
        body: Type.Object(
          {
            photo_url: nullable('string', 'Direct HTTPS URL of a JPEG, PNG or GIF; null removes the photo'),
            from_number: ActingLine,
          },
          { title: 'NewGroupPhoto' },
        ),
        response: { 200: PhotoAnswer },
        beforeValidation: async (request: FastifyRequest) => {
          if (request.isMultipart()) await readForm(request)
        },
      }),
      async (request, reply) => {
        const actor = actorOf(request)
        // Fetching the photo again would make another copy, and its source may be gone.
        const isShown = async (sql: Sql, { data }: Static<typeof PhotoAnswer>) => {
          const group = await findGroup(sql, request.params.group_id, actor.account.id)
          return (group?.photo?.guid ?? null) === (data.group_photo?.photo_guid ?? null)
        }
        const earlier = await answeredBefore(ctx, reply, isShown)
        if (earlier) return earlier
        const file = files.get(request)
        const url = (request.body.photo_url as string | null) || null
        checkUrl(ctx, 'photo_url', url ?? undefined)
        const change = await setGroupPhoto(ctx, actor, {
          groupId: request.params.group_id,
          takePhoto: async () =>
            file
              ? aboutField('file', keepPhoto(ctx, actor.account, file))
              : url && aboutField('photo_url', copyPhoto(ctx, actor.account, url)),
          fromNumber: actingNumber(request.body.from_number),
        })
        const effect = async (sql: Sql) => {
          const { photo } = await recordChange(ctx, sql, change)
          return { status: 200, body: answer(change, { group_photo: photoWire(photo) }) }
        }
        return answerOnce(ctx, reply, isShown, effect)
      },
    )
  })
}

/** Reads a form with a photo and turns it into the JSON form of the request. */
async function readForm(request: FastifyRequest): Promise<void> {
  const fields = new Map<string, string>()
  let file: Buffer | undefined
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') fields.set(part.fieldname, String(part.value))
      else if (part.fieldname !== 'file' || file)
        throw new AppError('invalid', 'file: send exactly one file, as the part "file"')
      else {
        file = await part.toBuffer()
        if (part.file.truncated) throw new AppError('invalid', 'file: is larger than 5 MB')
      }
    }
  } catch (error) {
    // Discards the rest of the body: a client that is still sending would not read the answer.
    request.raw.unpipe().resume()
    if (error instanceof AppError) throw error
    throw new AppError('invalid', 'The multipart form cannot be read: it is broken or incomplete')
  }
  if (!file) throw new AppError('invalid', 'missing required parameter: file')
  if (fields.has('photo_url'))
    throw new AppError('invalid', 'photo_url: give either photo_url or a file, not both')
  const from = fields.get('from_number') ?? null
  files.set(request, file)
  request.body = { photo_url: null, from_number: from }
  // The fingerprint of the request when it is repeated.
  request.rawBody = Buffer.from(`${hash('sha256', file, 'base64')} ${from ?? ''}`)
}
