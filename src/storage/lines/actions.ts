import type { Row, Sql } from '../engine/db.js'

/** A line action requested in another process than the holder of the line. Times are real time, not a world's. */
export interface WaitingAction {
  id: string
  lineId: string
  method: string
  argument: unknown
}

export async function insertAction(
  sql: Sql,
  action: WaitingAction & { createdAt: number; expiresAt: number },
): Promise<void> {
  await sql.run(
    'insert into line_actions (id, line_id, method, argument, created_at, expires_at) values ($1, $2, $3, $4, $5, $6)',
    [
      action.id,
      action.lineId,
      action.method,
      JSON.stringify(action.argument),
      action.createdAt,
      action.expiresAt,
    ],
  )
}

export async function hasWaitingAction(sql: Sql, lineId: string, now: number): Promise<boolean> {
  const row = await sql.one(
    'select 1 as one from line_actions where line_id = $1 and taken_at is null and expires_at > $2 limit 1',
    [lineId, now],
  )
  return row !== undefined
}

/** Takes each action once. If the taking process ends, the outcome stays unknown and the action is not repeated. */
export async function takeActions(sql: Sql, lineId: string, now: number): Promise<WaitingAction[]> {
  const rows = await sql.all(
    'update line_actions set taken_at = $2 where line_id = $1 and taken_at is null and expires_at > $2 returning *',
    [lineId, now],
  )
  return rows.map(toAction).sort((a, b) => (a.id < b.id ? -1 : 1))
}

export async function saveOutcome(sql: Sql, id: string, outcome: unknown): Promise<void> {
  await sql.run('update line_actions set outcome = $2 where id = $1 and outcome is null', [
    id,
    JSON.stringify(outcome),
  ])
}

export async function findOutcome(sql: Sql, id: string): Promise<unknown> {
  const row = await sql.one<{ outcome: string | null }>('select outcome from line_actions where id = $1', [
    id,
  ])
  return row?.outcome ? JSON.parse(row.outcome) : undefined
}

export async function dropExpiredActions(sql: Sql, now: number): Promise<number> {
  return sql.run('delete from line_actions where expires_at < $1', [now])
}

function toAction(row: Row): WaitingAction {
  return {
    id: row.id as string,
    lineId: row.line_id as string,
    method: row.method as string,
    argument: JSON.parse(row.argument as string),
  }
}
