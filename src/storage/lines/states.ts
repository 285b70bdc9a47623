import type { LineHealth } from '../../core/lines/health.js'
import type { Line } from '../../core/lines/line.js'
import type { Row, Sql } from '../engine/db.js'
import { table } from '../engine/table.js'
import { isInForce, type Lease } from './leases.js'
import { LINES } from './lines.js'

const STATES = table<LineHealth>()('line_states', { text: 'state detail', number: 'changedAt degradedSince' })

/** The state that the line's driver last reported, under this or an earlier lease. */
export function findLineState(sql: Sql, lineId: string): Promise<LineHealth | undefined> {
  return STATES.find(sql, 'line_id = $1', [lineId])
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

const LINES_WITH_STATE = (sql: Sql) =>
  `select l.*, s.state, s.detail, s.changed_at, s.degraded_since from lines l
   left join line_leases x on x.line_id = l.id and ${isInForce(sql, 'x')}
   left join line_states s on s.line_id = l.id and s.epoch = x.epoch`

export async function findLineHealth(sql: Sql, lineId: string): Promise<LineHealth | undefined> {
  const row = await sql.one(`${LINES_WITH_STATE(sql)} where l.id = $1`, [lineId])
  return row && withHealth(row).health
}

/** The lines that an account may use, its own first, with their health. */
export async function listLinesWithHealth(sql: Sql, accountId: string): Promise<LineWithHealth[]> {
  const rows = await sql.all(
    `${LINES_WITH_STATE(sql)} where l.removed_at is null and (l.account_id = $1
       or l.id in (select line_id from line_members where account_id = $1))
     order by case l.kind when 'dedicated' then 0 else 1 end, l.created_at, l.id`,
    [accountId],
  )
  return rows.map(withHealth)
}

/** The lines of a sender pool, with their health. */
export async function listPoolHealth(sql: Sql, poolId: string): Promise<LineWithHealth[]> {
  const rows = await sql.all(
    `${LINES_WITH_STATE(sql)} where l.removed_at is null and l.pool_id = $1 order by l.created_at, l.id`,
    [poolId],
  )
  return rows.map(withHealth)
}

function withHealth(row: Row): LineWithHealth {
  return { line: LINES.read(row), health: row.state === null ? undefined : STATES.read(row) }
}
