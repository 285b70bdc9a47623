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
      operationId: 'rotateSealKey',
      summary: 'Re-encrypt stored secrets with the newest key',
      description:
        'Re-encrypts one batch of secrets that still use older keys. Repeat with `after` set to `next` until `next` is null; then remove the older keys from the key ring. Safe to interrupt and repeat.',
      example: {},
      body: Type.Object({
        after: optional(string('`next` of the previous batch', { maxLength: 200 })),
      }),
      response: {
        200: Type.Object({
          kid: string('Id of the newest key'),
          total: nullable(
            'integer',
            'Number of secrets that use older keys, in the answer to the first batch; null later',
          ),
          resealed: integer('Number of secrets re-encrypted in this batch'),
          unreadable: integer('Number of secrets that no key decrypts; the log names them'),
          next: nullable('string', 'Cursor of the next page; null at the end'),
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
