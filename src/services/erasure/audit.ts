import type { Erasure } from '../../core/erasure/erasure.js'
import { replaceIn } from '../../core/erasure/person.js'
import { findOpenEntry, listOpenNaming, lookAtAudit, saveOpenEntry } from '../../storage/erasure/audit.js'
import { redactRows } from '../audit/audit.js'
import type { Ctx } from '../ctx.js'
import { saveTurn, type Turn } from './turn.js'

/**
 * Replaces the person's address where it names the object of a change. Doing it twice does no harm, so the log is
 * written in a transaction of its own, before the place in it is saved.
 */
export async function eraseAudit(ctx: Ctx, turn: Turn): Promise<Erasure> {
  const { person, scope } = turn
  const { handle } = person
  const [after = 0] = turn.erasure.place as [number?]
  const page = await lookAtAudit(ctx.db, { handle, scope, after })
  const rows = page.rows
    .map((row) => ({ ...row, object: replaceIn(row.object!, person) }))
    .filter((row, i) => row.object !== page.rows[i]!.object)
  if (rows.length > 0) await redactRows(ctx, rows)
  return ctx.db.tx(async (sql) => {
    if (page.next === undefined && !scope)
      for (const id of await listOpenNaming(sql, handle)) {
        const entry = await findOpenEntry(sql, id)
        if (entry !== undefined) await saveOpenEntry(sql, id, replaceIn(entry, person))
      }
    const place = page.next === undefined ? undefined : [page.next]
    return saveTurn(sql, turn, { place, counts: { audit_rows: rows.length } })
  })
}
