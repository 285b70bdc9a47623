import type { LineHealth } from '../../core/lines/health.js'
import type { Line, LineState } from '../../core/lines/line.js'
import type { Row, Sql } from '../engine/db.js'
import { type Lease, nowOf } from './leases.js'
import { toLine } from './lines.js'

/** The state that the line's driver last reported, under this or an earlier lease. */
export async function findLineState(sql: Sql, lineId: string): Promise<LineHealth | undefined> {
  const row = await sql.one('select * from line_states where line_id = $1', [lineId])
  return row && toHealth(row)
}

export async function saveLineState(sql: Sql, lease: Lease, health: LineHealth): Promise<void> {
  await sql.run(
    `insert into line_states (line_id, state, detail, changed_at, degraded_since, epoch) values ($1, $2, $3, $4, $5, $6)
     on conflict (line_id) do update set state = $2, detail = $3, changed_at = $4, degraded_since = $5, epoch = $6`,
    [lease.lineId, health.state, health.detail, health.changedAt, health.degradedSince, lease.epoch],
  )
}

/** Restarts the time since which the line has its state. */
export async function restartLineState(sql: Sql, lineId: string, now: number): Promise<void> {
  await sql.run('update line_states set changed_at = $2 where line_id = $1', [lineId, now])
}

/** A line with its health; without health, no process holds the line at the moment. */
export interface LineWithHealth {
  line: Line
  health: LineHealth | undefined
}

const KNOWN = (sql: Sql) =>
  `select l.*, s.state, s.detail, s.changed_at, s.degraded_since from lines l
   left join line_leases x on x.line_id = l.id and x.expires_at > ${nowOf(sql)}
   left join line_states s on s.line_id = l.id and s.epoch = x.epoch`

export async function findLineHealth(sql: Sql, lineId: string): Promise<LineHealth | undefined> {
  const row = await sql.one(`${KNOWN(sql)} where l.id = $1`, [lineId])
  return row && toKnown(row).health
}

/** The lines that an account may use, its own first, with their health. */
export async function listLinesWithHealth(sql: Sql, accountId: string): Promise<LineWithHealth[]> {
  const rows = await sql.all(
    `${KNOWN(sql)} where l.removed_at is null and (l.account_id = $1
       or l.id in (select line_id from line_members where account_id = $1))
     order by case l.kind when 'dedicated' then 0 else 1 end, l.created_at, l.id`,
    [accountId],
  )
  return rows.map(toKnown)
}

function toKnown(row: Row): LineWithHealth {
  return { line: toLine(row), health: row.state === null ? undefined : toHealth(row) }
}

function toHealth(row: Row): LineHealth {
  return {
    state: row.state as LineState,
    detail: row.detail as string | null,
    changedAt: row.changed_at as number,
    degradedSince: row.degraded_since as number | null,
  }
}
