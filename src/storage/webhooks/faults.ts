import type { Reads, Sql, Writes } from '../engine/db.js'
import { table } from '../engine/table.js'

/** A webhook whose last post failed. */
export interface WebhookFault {
  endpointId: string
  accountId: string
  /** The first of the posts that failed one after the other. */
  since: number
  failures: number
  /** Of the last one. */
  httpStatus: number | null
  reason: string
}

const FAULTS = table<WebhookFault>()('webhook_faults', {
  text: 'endpointId accountId reason',
  number: 'since failures httpStatus',
})

/** Notes that webhooks work, or fail. The failures of a webhook that failed before are added to its earlier ones. */
export async function saveFaults(
  sql: Writes,
  healthy: readonly string[],
  faults: readonly WebhookFault[],
): Promise<void> {
  if (healthy.length > 0) {
    const list = sql.inList(1, healthy)
    await sql.run(`delete from webhook_faults where endpoint_id ${list.sql}`, [list.param])
  }
  await FAULTS.insertMany(
    sql,
    faults,
    `on conflict (endpoint_id) do update set failures = webhook_faults.failures + excluded.failures,
       http_status = excluded.http_status, reason = excluded.reason`,
  )
}

/** A webhook that fails, and whether its account was told. */
export interface FailingWebhook extends WebhookFault {
  type: string
  url: string
  isTold: boolean
}

/** Webhooks that have failed since this time or an earlier one, after a place. */
export async function listFailing(
  sql: Reads,
  until: number,
  after: { at: number; id: string },
  limit: number,
): Promise<FailingWebhook[]> {
  const rows = await sql.all(
    `select f.*, e.type, e.url, case when exists (select 1 from alerts a where a.account_id = f.account_id
         and a.kind = 'webhook.failing' and a.subject = f.endpoint_id) then 1 else 0 end as told
     from webhook_faults f join webhook_endpoints e on e.id = f.endpoint_id
       join accounts o on o.id = f.account_id and o.removed_at is null
     where f.since <= $1 and (f.since, f.endpoint_id) > ($2, $3) order by f.since, f.endpoint_id limit $4`,
    [until, after.at, after.id, limit],
  )
  return rows.map((row) => ({
    ...FAULTS.read(row),
    type: row.type as string,
    url: row.url as string,
    isTold: row.told === 1,
  }))
}

/** SQL condition on an alert `a`: its webhook still fails. */
export const WEBHOOK_FAILS = `exists (select 1 from webhook_endpoints e where e.id = a.subject
  and (select f.failures from webhook_faults f where f.endpoint_id = e.id) > 0)`

/** A post that was under way while its webhook was removed may have failed afterwards. */
export async function dropFaultsOfRemoved(sql: Sql): Promise<void> {
  await sql.run(
    'delete from webhook_faults where not exists (select 1 from webhook_endpoints e where e.id = webhook_faults.endpoint_id)',
  )
}
