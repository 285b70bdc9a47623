import { toldFrom } from '../../core/alerts/alert.js'
import { listAlertsOfKind } from '../../storage/alerts/alerts.js'
import { listFailing, WEBHOOK_FAILS } from '../../storage/webhooks/faults.js'
import { AT_ONCE, endedOf, type Look } from './look.js'

/** Webhooks that have had nothing but failed posts for too long. */
export const lookAtWebhooks: Look = async (sql, now, { condition, told }) => {
  const until = toldFrom('webhook.failing', now)
  const failing = condition ? await listFailing(sql, until, condition, AT_ONCE) : []
  const page = told ? await listAlertsOfKind(sql, 'webhook.failing', told, AT_ONCE, WEBHOOK_FAILS) : []
  const { ended, further } = endedOf(page)
  const last = failing.length < AT_ONCE ? undefined : failing.at(-1)!
  return {
    began: failing
      .filter(({ isTold }) => !isTold)
      .map(({ accountId, endpointId, type, url, since, failures, httpStatus, reason }) => ({
        accountId,
        kind: 'webhook.failing',
        subject: endpointId,
        since,
        facts: {
          webhookId: endpointId,
          webhookType: type,
          webhookHost: new URL(url).host,
          failures,
          httpStatus,
          reason,
        },
      })),
    ended,
    next: { condition: last ? { at: last.since, id: last.endpointId } : null, told: further },
  }
}
