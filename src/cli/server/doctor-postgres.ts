import type { Client } from 'pg'
import type { Config } from '../../config.js'
import { hostUrls } from '../../core/database-url.js'
import { listLinesInDoubt } from '../../storage/messages/recovery.js'
import {
  CENSUS,
  type Census,
  checkDoubt,
  checkKeys,
  type Finding,
  fail,
  ok,
  skew,
  warn,
} from './doctor-local.js'

/** Checks of PostgreSQL, and of a pooler in front of it. */

export async function checkPostgres(config: Config, timeoutMs: number): Promise<Finding[]> {
  const { default: pg } = await import('pg')
  const open = (connectionString: string) =>
    new pg.Client({ connectionString, connectionTimeoutMillis: timeoutMs })
  const pooled = config.databaseDirectUrl ? await checkPooler(open(config.databaseUrl!)) : []
  const { client, findings: hosts } = await findPrimary(config, open)
  if (!client) return [...pooled, ...hosts]
  try {
    const one = async (sql: string) => Object.values((await client.query(sql)).rows[0] as object)[0]
    const off: string[] = []
    for (const name of ['fsync', 'synchronous_commit', 'full_page_writes'])
      if ((await one(`show ${name}`)) === 'off') off.push(name)
    const names = off.join(', ')
    const asked = Date.now()
    const now = Number(await one('select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms'))
    const findings = [
      ...pooled,
      ...hosts,
      off.length === 0
        ? ok('database', `PostgreSQL ${await one('show server_version')}, every commit is flushed`)
        : fail(
            'database',
            `PostgreSQL runs with ${names} off`,
            `Set ${names} to on: an accepted message could be lost.`,
          ),
      skew('clock of the database', now - (asked + Date.now()) / 2, 'the database'),
    ]
    const standbys = Number(await one('select count(*) from pg_stat_replication'))
    if (standbys > 0 && (await one('show synchronous_standby_names')) === '')
      findings.push(
        warn(
          'standby servers',
          `${standbys} asynchronous: a promotion may lose the last commits`,
          'Set synchronous_standby_names (Patroni: synchronous_mode). Otherwise messages in doubt are held after a promotion.',
        ),
      )
    if ((await one("select to_regclass('incarnations') is not null as there")) === true)
      findings.push(
        ...checkDoubt(
          await listLinesInDoubt({ all: async (sql) => (await client.query(sql)).rows as never }),
        ),
      )
    const hasKeys = (await one("select to_regclass('keys') is not null as there")) === true
    const census = hasKeys ? ((await client.query(CENSUS)).rows[0] as Census) : undefined
    return [...findings, ...checkKeys(config, census)]
  } finally {
    await client.end()
  }
}

/** The first host that can write, and what is to be said about the others. */
export async function findPrimary(
  config: Config,
  open: (url: string) => Client,
): Promise<{ client?: Client; findings: Finding[] }> {
  const name = config.databaseDirectUrl ? 'TRUNKLINE_DATABASE_DIRECT_URL' : 'DATABASE_URL'
  const urls = hostUrls(config.databaseDirectUrl ?? config.databaseUrl!)
  const findings: Finding[] = []
  let primary: Client | undefined
  for (const url of urls) {
    const check = urls.length > 1 ? `database on ${new URL(url).host}` : 'database'
    const client = open(url)
    try {
      await client.connect()
      const { rows } = await client.query(
        "select pg_backend_pid() as pid, current_setting('transaction_read_only') as read_only",
      )
      const isPooler = rows[0].pid !== (client as unknown as { processID: number }).processID
      if (isPooler && !config.databaseDirectUrl)
        findings.push(
          fail(
            check,
            'DATABASE_URL leads to a connection pooler such as pgbouncer',
            'Set TRUNKLINE_DATABASE_DIRECT_URL to the URL of the database itself.',
          ),
        )
      if (rows[0].read_only === 'off' && !primary) {
        primary = client
        continue
      }
      if (urls.length > 1) findings.push(ok(check, 'a standby'))
      await client.end()
    } catch (error) {
      const detail = `PostgreSQL cannot be reached: ${reasonOf(error)}`
      const advice = `Check ${name}, and that the database accepts connections from here.`
      findings.push(urls.length > 1 ? warn(check, detail, advice) : fail(check, detail, advice))
    }
  }
  if (!primary && findings.every(({ result }) => result !== 'fail'))
    findings.push(
      fail('database', `No host of ${name} can write`, 'Promote a standby, or add the primary to the URL.'),
    )
  return primary ? { client: primary, findings } : { findings }
}

async function checkPooler(client: Client): Promise<Finding[]> {
  try {
    await client.connect()
    await client.query('select 1')
    await client.end()
    return [ok('pooler', 'DATABASE_URL answers; sessions go to TRUNKLINE_DATABASE_DIRECT_URL')]
  } catch (error) {
    const advice = 'Check DATABASE_URL, and the databases and users in the settings of the pooler.'
    return [fail('pooler', `DATABASE_URL cannot be reached: ${reasonOf(error)}`, advice)]
  }
}

function reasonOf(error: unknown): string {
  return (error as Error).message || (error as { code?: string }).code || 'no reason was given'
}
