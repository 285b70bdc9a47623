import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Ctx } from '../../services/ctx.js'
import type { MediaDraft } from '../../services/media/media.js'
import type { Answer } from '../../services/once.js'
import { CommitUnknown, type Sql } from '../../storage/engine/db.js'
import { answerOnce } from '../http/once.js'

/**
 * `answerOnce` for a request that brings media: it becomes known in the effect's transaction. When there was no
 * effect, because the request was refused or a repeat, the media is forgotten.
 */
export async function answerWithMedia<T>(
  ctx: Ctx,
  request: FastifyRequest,
  reply: FastifyReply,
  draft: MediaDraft | null,
  effect: (sql: Sql) => Promise<Answer<T>>,
  after: () => void = () => {},
): Promise<T> {
  let kept = false
  try {
    return await answerOnce(
      ctx,
      request,
      reply,
      async (sql) => {
        await draft?.keep(sql)
        return effect(sql)
      },
      {
        after() {
          kept = true
          after()
        },
      },
    )
  } catch (error) {
    // It may be known after all; if not, it is swept later.
    if (error instanceof CommitUnknown) kept = true
    throw error
  } finally {
    if (!kept) await draft?.discard()
  }
}
