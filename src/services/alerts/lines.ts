import { toldFrom } from '../../core/alerts/alert.js'
import { listAlertsOfKind } from '../../storage/alerts/alerts.js'
import { LINE_IS_OFFLINE, listOfflineLines, listUntoldOfLines } from '../../storage/alerts/conditions.js'
import { AT_ONCE, endedOf, type Look } from './look.js'

/** Lines that have been offline for too long, told to every account that uses them. */
export const lookAtLines: Look = async (sql, now, from) => {
  const lines = await listOfflineLines(sql, toldFrom('line.offline', now), from.condition, AT_ONCE)
  const ids = lines.map(({ id }) => id)
  const untold = ids.length === 0 ? [] : await listUntoldOfLines(sql, ids, AT_ONCE)
  const { ended, told } = endedOf(
    await listAlertsOfKind(sql, 'line.offline', from.told, AT_ONCE, LINE_IS_OFFLINE),
  )
  const last = lines.length < AT_ONCE ? null : lines.at(-1)!
  return {
    began: untold.map(({ accountId, lineId, number, since }) => ({
      accountId,
      kind: 'line.offline',
      subject: lineId,
      since,
      facts: { lineId, lineNumber: number },
    })),
    ended,
    // A line of thousands of accounts takes several looks.
    next: { condition: untold.length < AT_ONCE ? last : from.condition, told },
  }
}
