import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import { isShown, kindOf } from '../../core/media/file-kind.js'
import { type Media, parseMediaFile } from '../../core/media/media.js'
import { parseRange } from '../../core/media/range.js'
import type { Ctx } from '../../services/ctx.js'
import { servedMedia } from '../../services/media/media.js'
import type { Routes } from '../http/routes.js'
import { optional, string } from '../http/schemas.js'

const YEAR_S = 31_536_000

/** Media without authentication, because phones and carriers have no keys. */
export function registerMedia(app: Routes, ctx: Ctx): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/media/:file',
    config: { access: 'open' },
    schema: {
      tags: ['Media'],
      operationId: 'getMedia',
      summary: 'Fetch media',
      description:
        'Needs no key: the name is unguessable. Supports Range. Inbound media is stored for 30 days.',
      security: [],
      params: Type.Object({ file: string('Name and extension, as in a media_url') }),
      headers: Type.Object({
        range: optional(string('One range of bytes')),
        'if-range': optional(string('Apply the range only if the ETag matches')),
        'if-none-match': optional(string('ETag of the cached file')),
      }),
      response: {
        200: { description: 'The file', content: { '*/*': { schema: Bytes } } },
        206: { description: 'The range', content: { '*/*': { schema: Bytes } } },
        304: { description: 'Not changed', type: 'null' },
        416: { description: 'The range is outside the file', type: 'null' },
      },
    },
    handler: (request, reply) => serve(ctx, request.params.file, request, reply as unknown as FastifyReply),
  })
}

async function serve(ctx: Ctx, path: string, request: FastifyRequest, reply: FastifyReply) {
  const file = parseMediaFile(path)
  const media = file && (await servedMedia(ctx, file))
  if (!media) throw new AppError('not_found', 'There is no such media')
  const etag = `"${media.name}"`
  reply.headers({
    ...safety(media),
    etag,
    'accept-ranges': 'bytes',
    'cache-control': `public, max-age=${maxAge(media, ctx.clock.now())}, immutable`,
  })
  const { headers, method } = request
  if (isKnown(headers['if-none-match'], etag)) return reply.code(304).send()
  const ifRange = headers['if-range']
  const range = ifRange && ifRange !== etag ? undefined : parseRange(headers.range, media.size)
  if (range === 'unsatisfiable')
    return reply.code(416).header('content-range', `bytes */${media.size}`).send()
  const { start, end } = range ?? { start: 0, end: media.size }
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${media.size}`)
  reply.header('content-length', end - start).type(kindOf(media.extension).type)
  if (method === 'HEAD') return reply.send()
  return reply.send(
    Readable.from(await opened(ctx.blobs.read(media.name, start, end)), { objectMode: false }),
  )
}

/** The stream once its first bytes are here, so that a failure before them is still an answer. */
async function opened(stream: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer>> {
  const bytes = stream[Symbol.asyncIterator]()
  const first = await bytes.next()
  return (async function* () {
    if (first.done) return
    yield first.value
    yield* { [Symbol.asyncIterator]: () => bytes }
  })()
}

function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes('*') || tags.includes(etag)
}

const Bytes = string('Bytes', { format: 'binary' })

/** Keeps a browser from running an uploaded file as part of this site. */
function safety(media: Media): Record<string, string> {
  const { type, extension } = kindOf(media.extension)
  const file = `filename="${media.name}.${extension}"`
  return {
    'x-content-type-options': 'nosniff',
    'content-security-policy': 'sandbox',
    'cross-origin-resource-policy': 'cross-origin',
    'content-disposition': `${isShown(type) ? 'inline' : 'attachment'}; ${file}`,
  }
}

function maxAge(media: { expiresAt: number | null }, now: number): number {
  if (media.expiresAt === null) return YEAR_S
  return Math.max(0, Math.min(YEAR_S, Math.floor((media.expiresAt - now) / 1000)))
}
