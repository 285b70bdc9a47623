import { Type } from 'typebox'
import { resealBatch } from '../../services/accounts/seal.js'
import type { Ctx } from '../../services/ctx.js'
import { answerOnce } from '../http/once.js'
import type { Routes } from '../http/routes.js'
import { integer, nullable, optional, string } from '../http/schemas.js'
import { admin } from './shared.js'

export function registerAdminSeal(app: Routes, ctx: Ctx): void {
  app.post(
    '/admin/seal/rotate',
    admin({
      summary: 'Seal stored secrets under the newest key',
      description:
        'One batch of what is still under older keys. Repeat with `after` set to `next` until that is null; the older keys can then leave the key ring. May be cut off at any time and started again.',
      body: Type.Object({
        after: optional(string('`next` of the batch before', { maxLength: 200 })),
      }),
      response: {
        200: Type.Object({
          kid: string('The newest key of the ring'),
          resealed: integer('Secrets of this batch that are under it now'),
          unreadable: integer('Secrets that no key opens; the log names them'),
          next: nullable('string', 'Where to go on; null at the end'),
        }),
      },
    }),
    async (request, reply) =>
      answerOnce(ctx, reply, 'anew', async (sql) => ({
        status: 200,
        body: await resealBatch(ctx, sql, request.body.after ?? null),
        after: () => ctx.failpoint('seal.after_batch'),
      })),
  )
}
