import { toldFrom } from '../../core/alerts/alert.js'
import { listAlertsOfKind } from '../../storage/alerts/alerts.js'
import { LINE_IS_OFFLINE, listOfflineLines, listUntoldOfLines } from '../../storage/alerts/conditions.js'
import { AT_ONCE, endedOf, type Look } from './look.js'

/** Lines that have been offline for too long, told to every account that uses them. */
export const lookAtLines: Look = async (sql, now, { condition, told }) => {
  const until = toldFrom('line.offline', now)
  const lines = condition ? await listOfflineLines(sql, until, condition, AT_ONCE) : []
  const since = new Map(lines.map(({ id, at }) => [id, at]))
  const untold = lines.length === 0 ? [] : await listUntoldOfLines(sql, [...since.keys()], AT_ONCE + 1)
  const page = told ? await listAlertsOfKind(sql, 'line.offline', told, AT_ONCE, LINE_IS_OFFLINE) : []
  const last = lines.length < AT_ONCE ? null : lines.at(-1)!
  const { ended, further } = endedOf(page)
  return {
    began: untold.slice(0, AT_ONCE).map(({ accountId, lineId, number }) => ({
      accountId,
      kind: 'line.offline',
      subject: lineId,
      since: since.get(lineId)!,
      facts: { lineId, lineNumber: number },
    })),
    ended,
    // A line of thousands of accounts takes several looks.
    next: { condition: untold.length <= AT_ONCE ? last : condition, told: further },
  }
}
