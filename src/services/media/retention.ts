import { keptMs, type MediaSource, mediaNamesIn } from '../../core/media/media.js'
import { deleteMedia, listOldMedia, listWaitingReferences } from '../../storage/media/media.js'
import type { Ctx } from '../ctx.js'

const AT_ONCE = 100
const SOURCES: readonly MediaSource[] = ['inbound', 'upload']

/** Removes expired media, and files that a crash left without a row. Errors are logged only. */
export async function sweepMedia(ctx: Ctx, atStart: boolean): Promise<void> {
  try {
    for (const source of SOURCES) await dropOld(ctx, source)
    const orphans = await ctx.blobs.sweep(atStart)
    if (orphans > 0) ctx.log.info({ files: orphans }, 'removed media that a crash left unfinished')
  } catch (error) {
    ctx.log.warn({ err: error }, 'old media could not be removed')
  }
}

async function dropOld(ctx: Ctx, source: MediaSource): Promise<void> {
  const kept = keptMs(source, ctx.config.mediaDays)
  if (kept === undefined) return
  for (;;) {
    const names = await listOldMedia(ctx.db, source, ctx.clock.now() - kept, AT_ONCE)
    if (names.length === 0) return
    await removeMedia(ctx, names)
  }
}

/** Names of media that waiting messages of an account may need. */
export async function findNeededMedia(ctx: Ctx, accountId: string): Promise<Set<string>> {
  const references = await listWaitingReferences(ctx.db.aside(accountId), accountId)
  return new Set(references.flatMap(({ url, extra }) => mediaNamesIn(`${url} ${extra ?? ''}`)))
}

export async function removeMedia(ctx: Ctx, names: readonly string[]): Promise<void> {
  await ctx.db.tx(async (sql) => {
    await deleteMedia(sql, names)
    await ctx.blobs.drop(sql, names)
  })
  ctx.failpoint('media.before_unlink')
  // After the commit: a row without its file is worse than a file without its row.
  await ctx.blobs.dropped(names)
}
