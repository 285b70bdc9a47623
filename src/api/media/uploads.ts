import multipart from '@fastify/multipart'
import type { FastifyReply } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../services/ctx.js'
import { fetchMedia, type MediaDraft, urlOf } from '../../services/media/media.js'
import { accountOf } from '../http/auth.js'
import { aboutField, checkUrl } from '../http/fields.js'
import { answeredBefore } from '../http/once.js'
import { type Routes, routesOf } from '../http/routes.js'
import { string } from '../http/schemas.js'
import { answerWithMedia } from './keep.js'
import { FORM_LIMITS, needsForm, receiveFile } from './receive-file.js'

/** Media belongs to the account, so a confined token may store what it is about to send. */
const route = routesOf('Media', { access: 'account', confined: 'to its lines', isStreamed: true })

const StoredMedia = Type.Object(
  {
    status: string('OK'),
    message: string('What happened'),
    media_url: string('URL of the media, for media_url of a message; ends in its file extension'),
    mediaObjectId: string('Id of the media'),
  },
  { title: 'StoredMedia' },
)

const URL_ALIASES = { media_url: ['mediaUrl', 'mediaURL'] } as const

export async function registerUploads(app: Routes, ctx: Ctx): Promise<void> {
  app.post(
    '/api/upload-media-object',
    route({
      operationId: 'uploadMediaFromUrl',
      summary: 'Store media from a URL',
      description: 'At most 100 MB, fetched within 30 seconds.',
      aliases: URL_ALIASES,
      example: { media_url: 'http://127.0.0.1:4040/docs/static/favicon-32x32.png' },
      body: Type.Object({ media_url: string('HTTPS URL of the file') }),
      response: { 201: StoredMedia },
    }),
    async (request, reply) => {
      const { media_url: url } = request.body
      const account = accountOf(request)
      checkUrl(ctx, 'media_url', url)
      // When a client repeats the request, the file may be gone from its source.
      const before = await answeredBefore<Static<typeof StoredMedia>>(ctx, reply)
      if (before) return before
      const draft = await aboutField('media_url', fetchMedia(ctx, account.id, 'upload', url))
      return keep(ctx, reply, draft)
    },
  )

  // Only this scope accepts multipart bodies.
  await app.register(async (scope) => {
    await scope.register(multipart, FORM_LIMITS)
    scope.addContentTypeParser('*', (_request, _body, done) => done(needsForm()))
    // The handler reads the form.
    scope.setValidatorCompiler(() => () => true)
    scope.post<{ Reply: Static<typeof StoredMedia> }>(
      '/api/upload-file',
      route({
        operationId: 'uploadFile',
        summary: 'Upload a file',
        description: 'One file of at most 100 MB as the part "file" of a multipart form.',
        consumes: ['multipart/form-data'],
        body: Type.Object({ file: string('The file', { format: 'binary' }) }),
        response: { 201: StoredMedia },
      }),
      async (request, reply) => {
        const draft = await receiveFile(ctx, request, accountOf(request).id)
        // The fingerprint of the body: the same Idempotency-Key with another file is another request.
        request.rawBody = Buffer.from(`${draft.digest} ${draft.media.extension}`)
        return keep(ctx, reply, draft)
      },
    )
  })
}

function keep(ctx: Ctx, reply: FastifyReply, draft: MediaDraft): Promise<Static<typeof StoredMedia>> {
  return answerWithMedia(ctx, reply, draft, async () => ({
    status: 201,
    body: {
      status: 'OK',
      message: 'File uploaded successfully',
      media_url: urlOf(ctx, draft.media),
      mediaObjectId: draft.media.id,
    },
  }))
}
