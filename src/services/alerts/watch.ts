import { type Alert, beganEvent, endedEvent } from '../../core/alerts/alert.js'
import type { AlertKind } from '../../core/alerts/facts.js'
import { insertAlert, lockAlerts, removeAlert } from '../../storage/alerts/alerts.js'
import type { Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import type { Ctx } from '../ctx.js'
import { lookAtLines } from './lines.js'
import { type Findings, type Look, NO_ALERT, NO_CONDITION, type Place } from './look.js'
import { lookAtQueues } from './queues.js'
import { createQuotaWatch } from './quotas.js'
import { lookAtWebhooks } from './webhooks.js'

/** Tells accounts of conditions that last, once when they begin and once when they end. */
export interface AlertWatch {
  /** An account has used most of its budget of the day. Returns whether it is to be looked at. */
  hint(accountId: string): boolean
  /** The account's world was reset, and its alerts with it. */
  forget(accountId: string): void
  /** Looks at these kinds of alerts. Returns whether there is more to look at. */
  look(kinds: readonly AlertKind[]): Promise<boolean>
}

export function createAlertWatch(ctx: Ctx): AlertWatch {
  const quotas = createQuotaWatch()
  const looks: { readonly [K in AlertKind]: Look } = {
    'line.offline': lookAtLines,
    'queue.age': lookAtQueues,
    'webhook.failing': lookAtWebhooks,
    'quota.near': quotas.look,
  }
  /** Of rounds that take several looks. */
  const places = new Map<AlertKind, Place>()

  async function lookAt(kind: AlertKind): Promise<boolean> {
    const from = places.get(kind) ?? { condition: NO_CONDITION, told: NO_ALERT }
    let found: Findings | undefined = await looks[kind](ctx.db, ctx.clock.now(), from)
    // Again in the transaction that tells it: another process may have told it, or it may be over.
    if (found.began.length + found.ended.length > 0)
      found = await ctx.db.tx(async (sql) => {
        if (!(await lockAlerts(sql))) return undefined
        const now = ctx.clock.now()
        const confirmed = await looks[kind](sql, now, from)
        await tell(sql, confirmed, now)
        return confirmed
      })
    if (!found) return true
    if (kind === 'quota.near') quotas.looked()
    const { condition, told } = found.next
    const isMore = condition !== null || told !== null
    if (isMore) places.set(kind, { condition, told })
    else places.delete(kind)
    return isMore
  }

  return {
    hint: quotas.hint,
    forget: quotas.forget,
    async look(kinds) {
      let isMore = false
      for (const kind of kinds) isMore = (await lookAt(kind)) || isMore
      return isMore
    },
  }
}

/** The rows decide: what another process has told is not told again. */
async function tell(sql: Sql, { began, ended }: Findings, now: number): Promise<void> {
  const events = []
  for (const alert of ended) if (await removeAlert(sql, alert)) events.push(endedEvent(alert, now))
  for (const condition of began) {
    const alert = { ...condition, beganAt: now } as Alert
    if (await insertAlert(sql, alert)) events.push(beganEvent(alert))
  }
  await appendEvents(sql, events)
}
