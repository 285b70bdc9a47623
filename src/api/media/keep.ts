import type { FastifyReply } from 'fastify'
import type { Ctx } from '../../services/ctx.js'
import type { MediaDraft } from '../../services/media/media.js'
import type { Answer } from '../../services/once.js'
import { CommitUnknown, type Sql } from '../../storage/engine/db.js'
import { answerOnce } from '../http/once.js'

/**
 * `answerOnce` for a request that brings media: the effect's transaction stores the media. A refused or repeated
 * request has no effect, and its media is discarded.
 */
export async function answerWithMedia<T>(
  ctx: Ctx,
  reply: FastifyReply,
  draft: MediaDraft | null,
  effect: (sql: Sql) => Promise<Answer<T>>,
): Promise<T> {
  let isKept = false
  try {
    return await answerOnce(ctx, reply, 'told', async (sql) => {
      await draft?.keep(sql)
      const answer = await effect(sql)
      const after = () => {
        isKept = true
        return answer.after?.()
      }
      return { ...answer, after }
    })
  } catch (error) {
    // The commit may have succeeded. If it did not, the sweep of unknown media removes the file later.
    if (error instanceof CommitUnknown) isKept = true
    throw error
  } finally {
    if (!isKept) await draft?.discard()
  }
}
