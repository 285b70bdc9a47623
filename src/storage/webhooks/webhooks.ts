import { topics } from '../../core/topics.js'
import type { WebhookType } from '../../core/webhooks/types.js'
import type { WebhookSchedule } from '../../core/webhooks/webhook.js'
import type { Row, Sql } from '../engine/db.js'

/** A webhook as its row has it. */
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

/** Text with the name of the key it is sealed under. */
export interface Sealed {
  text: string
  kid: string
}

export interface WebhookRows {
  /** Grows with every change. */
  version: number
  /** The sealed text of the settings. */
  settings: string | null
  webhooks: (Omit<WebhookRow, 'sealed'> & { sealed: string | null })[]
}

/** Takes an account's configuration for the rest of the transaction: its changes come one after the other. */
export async function lockWebhooks(sql: Sql, accountId: string): Promise<void> {
  await sql.run(
    `insert into webhook_settings (account_id, version) values ($1, 1)
     on conflict (account_id) do update set version = webhook_settings.version + 1`,
    [accountId],
  )
}

/** In one statement: what it tells was there at one moment. */
export async function readWebhookRows(sql: Sql, accountId: string): Promise<WebhookRows | undefined> {
  const rows = await sql.all(
    `select s.version, s.sealed as settings, e.id, e.type, e.url, e.position, e.numbers, e.schedule, e.sealed
     from webhook_settings s left join webhook_endpoints e on e.account_id = s.account_id
     where s.account_id = $1 order by e.type, e.position`,
    [accountId],
  )
  const [first] = rows
  return (
    first && {
      version: first.version as number,
      settings: first.settings as string | null,
      webhooks: rows.filter(({ id }) => id !== null).map((row) => toWebhook(row, accountId)),
    }
  )
}

/** The version of an account's configuration; 0 before the first. */
export async function findWebhooksVersion(sql: Sql, accountId: string): Promise<number> {
  const row = await sql.one<{ version: number }>(
    'select version from webhook_settings where account_id = $1',
    [accountId],
  )
  return row?.version ?? 0
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
  await sql.insertMany(
    'webhook_endpoints',
    {
      id: 'text',
      account_id: 'text',
      type: 'text',
      url: 'text',
      position: 'bigint',
      numbers: 'text',
      schedule: 'text',
      sealed: 'text',
      kid: 'text',
      created_at: 'bigint',
      updated_at: 'bigint',
    },
    rows.map((row) => [
      row.id,
      row.accountId,
      row.type,
      row.url,
      row.position,
      row.numbers && JSON.stringify(row.numbers),
      row.schedule,
      row.sealed?.text ?? null,
      row.sealed?.kid ?? null,
      now,
      now,
    ]),
    `on conflict (id) do update set position = excluded.position, numbers = excluded.numbers,
       schedule = excluded.schedule, sealed = excluded.sealed, kid = excluded.kid, updated_at = excluded.updated_at`,
  )
}

/** Answers how many of them there were. */
export async function deleteWebhooks(sql: Sql, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  const list = sql.inList(1, ids)
  return sql.run(`delete from webhook_endpoints where id in ${list.sql}`, [list.param])
}

export async function deleteWebhooksOf(sql: Sql, accountId: string): Promise<void> {
  await sql.run('delete from webhook_endpoints where account_id = $1', [accountId])
}

/** Tells every process that an account's configuration has changed. */
export function announceWebhooks(sql: Sql, accountId: string): void {
  sql.announce(topics.webhooks, accountId)
}

function toWebhook(row: Row, accountId: string): WebhookRows['webhooks'][number] {
  return {
    id: row.id as string,
    accountId,
    type: row.type as WebhookType,
    url: row.url as string,
    position: row.position as number,
    numbers: row.numbers === null ? null : JSON.parse(row.numbers as string),
    schedule: row.schedule as WebhookSchedule,
    sealed: row.sealed as string | null,
  }
}
