import type { Db, Sql } from '../engine/db.js'
import { exists, findValue } from '../engine/query.js'
import { deleteInSlices } from '../engine/slices.js'
import { table } from '../engine/table.js'

/** A line action requested in another process than the holder of the line. Times are real time, not a world's. */
interface WaitingAction {
  id: string
  lineId: string
  method: string
  argument: unknown
}

const ACTIONS = table<WaitingAction>()('line_actions', { text: 'id lineId method', json: 'argument' })

export async function insertAction(
  sql: Sql,
  action: WaitingAction,
  createdAt: number,
  expiresAt: number,
): Promise<void> {
  await ACTIONS.insert(sql, action, { created_at: createdAt, expires_at: expiresAt })
}

export function hasWaitingAction(sql: Sql, lineId: string, now: number): Promise<boolean> {
  return exists(
    sql,
    'select 1 from line_actions where line_id = $1 and taken_at is null and expires_at > $2 limit 1',
    [lineId, now],
  )
}

/** Takes each action once. If the taking process ends, the outcome stays unknown and the action is not repeated. */
export async function takeActions(sql: Sql, lineId: string, now: number): Promise<WaitingAction[]> {
  const actions = await ACTIONS.all(
    sql,
    'update line_actions set taken_at = $2 where line_id = $1 and taken_at is null and expires_at > $2 returning *',
    [lineId, now],
  )
  return actions.sort((a, b) => (a.id < b.id ? -1 : 1))
}

export async function saveOutcome(sql: Sql, id: string, outcome: unknown): Promise<void> {
  await sql.run('update line_actions set outcome = $2 where id = $1 and outcome is null', [
    id,
    JSON.stringify(outcome),
  ])
}

export async function findOutcome(sql: Sql, id: string): Promise<unknown> {
  const outcome = await findValue<string>(sql, 'select outcome from line_actions where id = $1', [id])
  return outcome && JSON.parse(outcome)
}

export function dropExpiredActions(db: Db, now: number): Promise<number> {
  return deleteInSlices(db, { table: 'line_actions', where: 'expires_at < $1', params: [now] })
}
