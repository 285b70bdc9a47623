import { type Alert, toldFrom } from '../../core/alerts/alert.js'
import { listAlertsOfKind, listTold } from '../../storage/alerts/alerts.js'
import { listLongestWaits, listWaitingLines } from '../../storage/alerts/conditions.js'
import type { Sql } from '../../storage/engine/db.js'
import { findNumbersEver } from '../../storage/lines/lines.js'
import { AT_ONCE, endedOf, type Look, type Place } from './look.js'

/** Lines whose queues one look reads, and how much of each. */
const QUEUES_AT_ONCE = 20
const MESSAGES_READ = 1000

/** Accounts whose oldest message for a line waits for too long. */
export const lookAtQueues: Look = async (sql, now, from) => {
  const until = toldFrom('queue.age', now)
  const { lineIds, condition } = await listOldQueues(sql, until, from.condition)
  const page = from.told ? await listAlertsOfKind(sql, 'queue.age', from.told, AT_ONCE) : []
  const read = new Map<string, Promise<Map<string, number>>>()
  /** By account. */
  const waitsOf = (lineId: string) => {
    const known = read.get(lineId) ?? readWaits(sql, lineId, now)
    read.set(lineId, known)
    return known
  }
  const holding = []
  for (const { alert } of page) {
    // The rest of the page is for the next look.
    if (!read.has(alert.subject) && read.size >= QUEUES_AT_ONCE) break
    const since = (await waitsOf(alert.subject)).get(alert.accountId)
    holding.push({ alert, holds: since !== undefined && since <= until })
  }
  const { ended, further } = endedOf(holding)
  const cut = holding.length < page.length ? holding.at(-1)!.alert : undefined
  const found: Waiting[] = []
  for (const lineId of lineIds)
    for (const [accountId, since] of await waitsOf(lineId))
      if (since <= until) found.push({ lineId, accountId, since })
  return {
    began: await beginningOf(sql, found, now),
    ended,
    next: { condition, told: cut ? { subject: cut.subject, accountId: cut.accountId } : further },
  }
}

interface Waiting {
  lineId: string
  accountId: string
  since: number
}

/** Lines with an old message at the front of their queue. */
async function listOldQueues(sql: Sql, until: number, from: Place['condition']) {
  const lines = from ? await listWaitingLines(sql, from.id, AT_ONCE) : []
  const old = lines.filter(({ since }) => since !== null && since <= until)
  const lineIds = old.slice(0, QUEUES_AT_ONCE).map(({ lineId }) => lineId)
  const last = old.length > QUEUES_AT_ONCE ? lineIds.at(-1) : lines.at(-1)?.lineId
  const isMore = old.length > QUEUES_AT_ONCE || lines.length === AT_ONCE
  const condition: Place['condition'] = isMore ? { at: 0, id: last! } : null
  return { lineIds, condition }
}

async function readWaits(sql: Sql, lineId: string, now: number): Promise<Map<string, number>> {
  const waits = await listLongestWaits(sql, lineId, now, MESSAGES_READ)
  return new Map(waits.map(({ accountId, since }) => [accountId, since]))
}

async function beginningOf(sql: Sql, found: readonly Waiting[], now: number) {
  if (found.length === 0) return []
  const lineIds = [...new Set(found.map(({ lineId }) => lineId))]
  const told = new Set(
    (await listTold(sql, 'queue.age', lineIds)).map(({ subject, accountId }) => `${subject} ${accountId}`),
  )
  const untold = found.filter(({ lineId, accountId }) => !told.has(`${lineId} ${accountId}`))
  if (untold.length === 0) return []
  const numbers = await findNumbersEver(sql, lineIds)
  return untold.slice(0, AT_ONCE).map(
    ({ lineId, accountId, since }): Omit<Alert<'queue.age'>, 'beganAt'> => ({
      accountId,
      kind: 'queue.age',
      subject: lineId,
      since,
      facts: {
        lineId,
        lineNumber: numbers.get(lineId) ?? '',
        ageSeconds: Math.floor((now - since) / 1000),
      },
    }),
  )
}
