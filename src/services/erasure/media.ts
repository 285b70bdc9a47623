import type { Erasure } from '../../core/erasure/erasure.js'
import { mediaNamesIn } from '../../core/media/media.js'
import {
  keepUploads,
  listErasureMedia,
  listShown,
  listShownElsewhere,
  removeErasureMedia,
} from '../../storage/erasure/media.js'
import { deleteMedia } from '../../storage/media/media.js'
import type { Ctx } from '../ctx.js'
import { saveTurn, type Turn } from './turn.js'

const LOOKED_AT = 1000
const AT_ONCE = 20

/** Keeps uploads of the account that messages to others show. */
export async function keepSharedMedia(ctx: Ctx, turn: Turn): Promise<Erasure> {
  const { id, place } = turn.erasure
  const aside = ctx.db.aside('erasure')
  const [after = 0] = place as [number?]
  const isAny = (await listErasureMedia(aside, id, 1)).length > 0
  const shown = isAny ? await listShown(aside, after, LOOKED_AT) : []
  const elsewhere = isAny && place.length === 0 ? await listShownElsewhere(aside) : []
  const names = [...shown.map(({ text }) => text ?? ''), ...elsewhere].flatMap(mediaNamesIn)
  return ctx.db.tx(async (sql) => {
    if (names.length > 0) await keepUploads(sql, id, names)
    return saveTurn(sql, turn, { place: shown.length < LOOKED_AT ? undefined : [shown.at(-1)!.id] })
  })
}

/** Removes the media that only erased messages showed. */
export async function eraseMedia(ctx: Ctx, turn: Turn): Promise<Erasure> {
  const { id } = turn.erasure
  const names = await listErasureMedia(ctx.db, id, AT_ONCE)
  const after = await ctx.db.tx(async (sql) => {
    if (names.length > 0) {
      await deleteMedia(sql, names)
      await ctx.blobs.drop(sql, names)
      await removeErasureMedia(sql, id, names)
    }
    const place = names.length < AT_ONCE ? undefined : [names.at(-1)!]
    return saveTurn(sql, turn, { place, counts: { media: names.length } })
  })
  // After the commit, as in every removal of media. A crash before this leaves files that the next start removes.
  if (names.length > 0) await ctx.blobs.dropped(names)
  return after
}
