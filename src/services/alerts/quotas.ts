import { createBoundedMap } from '../../base/bounded-map.js'
import { dailyLimitOf } from '../../core/accounts/budgets.js'
import { type Alert, isNear } from '../../core/alerts/alert.js'
import { findLimitedAccount } from '../../storage/accounts/budgets.js'
import { countToday, midnightOf } from '../../storage/accounts/usage.js'
import { hasAlert, listAlertsOfKind } from '../../storage/alerts/alerts.js'
import type { Sql } from '../../storage/engine/db.js'
import { type Look, NO_CONDITION } from './look.js'

/** Accounts whose use one look counts. */
const COUNTED = 50
const HINTS_KEPT = 10_000
/** In real time. Another process may end an alert that this one knows. */
const NEAR_KEPT_MS = 60_000

/** Accounts that have used most of their budget of the day. Hints of their sends name them. */
export interface QuotaWatch {
  /** Returns whether the account is to be looked at. */
  hint(accountId: string): boolean
  /** The account's world was reset, and its alerts with it. */
  forget(accountId: string): void
  look: Look
  /** The findings of the last look are stored. */
  looked(): void
}

export function createQuotaWatch(): QuotaWatch {
  /** With the number of their last hint: one that comes during a look is for the next. */
  const hinted = new Map<string, number>()
  let hints = 0
  /** Accounts with an alert: their further sends are no news. */
  const near = createBoundedMap<string, true>(HINTS_KEPT, NEAR_KEPT_MS)
  /** Accounts of the current look. */
  let counted: [accountId: string, hint: number][] = []

  return {
    hint(accountId) {
      if (near.get(accountId, performance.now()) || hinted.size >= HINTS_KEPT) return false
      hinted.set(accountId, ++hints)
      return true
    },
    forget: (accountId) => void near.delete(accountId),
    async look(sql, now, from) {
      counted = [...hinted].slice(0, COUNTED)
      const began = []
      for (const [accountId] of counted) {
        const isTold = await hasAlert(sql, accountId, 'quota.near', 'daily')
        const use = isTold ? undefined : await findUse(sql, accountId, now)
        if (isTold || use) near.set(accountId, true, performance.now())
        if (use) began.push(alertOf(accountId, use, now))
      }
      const page = from.told ? await listAlertsOfKind(sql, 'quota.near', from.told, COUNTED) : []
      const ended: Alert[] = []
      for (const { alert } of page) {
        const isToday = midnightOf(alert.since) === midnightOf(now)
        if (!isToday || !(await findUse(sql, alert.accountId, now))) ended.push(alert)
      }
      for (const { accountId } of ended) near.delete(accountId)
      const last = page.length < COUNTED ? undefined : page.at(-1)!.alert
      return {
        began,
        ended,
        next: {
          condition: hinted.size > COUNTED ? NO_CONDITION : null,
          told: last ? { subject: last.subject, accountId: last.accountId } : null,
        },
      }
    },
    looked() {
      for (const [accountId, hint] of counted) if (hinted.get(accountId) === hint) hinted.delete(accountId)
    },
  }
}

interface Use {
  used: number
  limit: number
}

/** Use of the account's day, if that is most of it. */
async function findUse(sql: Sql, accountId: string, now: number): Promise<Use | undefined> {
  const account = await findLimitedAccount(sql, accountId)
  const limit = account && dailyLimitOf(account.limits)
  if (limit === undefined) return undefined
  const used = await countToday(sql, accountId, now)
  return isNear(used, limit) ? { used, limit } : undefined
}

const alertOf = (
  accountId: string,
  { used, limit }: Use,
  now: number,
): Omit<Alert<'quota.near'>, 'beganAt'> => ({
  accountId,
  kind: 'quota.near',
  subject: 'daily',
  since: now,
  facts: { budget: 'daily', limit, used },
})
