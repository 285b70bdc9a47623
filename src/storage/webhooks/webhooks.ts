import { topics } from '../../core/topics.js'
import type { WebhookType } from '../../core/webhooks/types.js'
import type { WebhookSchedule } from '../../core/webhooks/webhook.js'
import type { Sql } from '../engine/db.js'
import { findValue, listValues } from '../engine/query.js'
import { table } from '../engine/table.js'

/** A stored webhook. */
export interface WebhookRow {
  id: string
  accountId: string
  type: WebhookType
  url: string
  position: number
  numbers: readonly string[] | null
  schedule: WebhookSchedule
  sealed: Sealed | null
}

/** Sealed text with the name of its key. */
export interface Sealed {
  text: string
  kid: string
}

interface WebhookRows {
  /** Grows with every change. */
  version: number
  /** The sealed text of the settings. */
  settings: string | null
  webhooks: StoredWebhook[]
}

type StoredWebhook = Omit<WebhookRow, 'sealed'> & { sealed: string | null }

const ENDPOINTS = table<StoredWebhook & { kid: string | null; createdAt: number; updatedAt: number }>()(
  'webhook_endpoints',
  {
    text: 'id accountId type url schedule sealed kid',
    number: 'position createdAt updatedAt',
    json: 'numbers',
  },
)

/** Locks an account's configuration until the commit, so that changes come one after the other. */
export async function lockWebhooks(sql: Sql, accountId: string): Promise<void> {
  await sql.run(
    `insert into webhook_settings (account_id, version) values ($1, 1)
     on conflict (account_id) do update set version = webhook_settings.version + 1`,
    [accountId],
  )
}

/** Reads settings and webhooks in one statement, as they are at one moment. */
export async function readWebhookRows(sql: Sql, accountId: string): Promise<WebhookRows | undefined> {
  const rows = await sql.all(
    `select s.version, s.sealed as settings, e.* from webhook_settings s left join webhook_endpoints e on e.account_id = s.account_id
     where s.account_id = $1 order by e.type, e.position`,
    [accountId],
  )
  const [first] = rows
  return (
    first && {
      version: first.version as number,
      settings: first.settings as string | null,
      webhooks: rows.filter(({ id }) => id !== null).map(ENDPOINTS.read),
    }
  )
}

/** The version of an account's configuration; 0 before the first. */
export async function findWebhooksVersion(sql: Sql, accountId: string): Promise<number> {
  const text = 'select version from webhook_settings where account_id = $1'
  return (await findValue<number>(sql, text, [accountId])) ?? 0
}

export async function saveWebhookSettings(sql: Sql, accountId: string, sealed: Sealed | null): Promise<void> {
  await sql.run('update webhook_settings set sealed = $2, kid = $3 where account_id = $1', [
    accountId,
    sealed?.text ?? null,
    sealed?.kid ?? null,
  ])
}

export async function saveWebhooks(sql: Sql, rows: readonly WebhookRow[], now: number): Promise<void> {
  if (rows.length === 0) return
  await ENDPOINTS.insertMany(
    sql,
    rows.map(({ sealed, ...row }) => ({
      ...row,
      sealed: sealed?.text ?? null,
      kid: sealed?.kid ?? null,
      createdAt: now,
      updatedAt: now,
    })),
    `on conflict (id) do update set position = excluded.position, numbers = excluded.numbers,
       schedule = excluded.schedule, sealed = excluded.sealed, kid = excluded.kid, updated_at = excluded.updated_at`,
  )
}

/** Returns the number of deleted webhooks. */
export async function deleteWebhooks(sql: Sql, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  const list = sql.inList(1, ids)
  await sql.run(`delete from webhook_faults where endpoint_id ${list.sql}`, [list.param])
  return sql.run(`delete from webhook_endpoints where id ${list.sql}`, [list.param])
}

export async function deleteWebhooksOf(sql: Sql, accountId: string): Promise<void> {
  await sql.run('delete from webhook_endpoints where account_id = $1', [accountId])
}

/** Tells every process that an account's configuration has changed. */
export function announceWebhooks(sql: Sql, accountId: string): void {
  sql.announce(topics.webhooks, accountId)
}

/** Webhooks of an account, for each type that has some. */
export function countWebhooks(sql: Sql, accountId: string): Promise<number[]> {
  const text = 'select count(*) from webhook_endpoints where account_id = $1 group by type'
  return listValues(sql, text, [accountId])
}
