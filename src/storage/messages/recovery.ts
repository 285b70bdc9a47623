import type { Sql } from '../engine/db.js'
import { HELD_SINCE, HELD_THROUGH } from '../engine/incarnations.js'
import { findValue, listValues } from '../engine/query.js'

/**
 * Messages in doubt: they waited when the database was restored, copied or promoted, and may have been sent before.
 * They stay out of the queue until the operator decides.
 */
const IN_DOUBT = `next_action_at is not null and id <= ${HELD_THROUGH} and (due_at is null or due_at <= ${HELD_SINCE})`
/** When the message would have been sent at the earliest. */
const WANTED_AT = 'coalesce(due_at, created_at)'

export interface LineInDoubt {
  lineId: string
  lineNumber: string
  messages: number
  /** Messages with an attempt in this database. */
  tried: number
  oldest: number
  newest: number
}

export function listLinesInDoubt(sql: Pick<Sql, 'all'>): Promise<LineInDoubt[]> {
  return sql.all(
    `select line_id as "lineId", min(line_number) as "lineNumber", count(*) as messages,
       count(case when exists (select 1 from attempts a where a.message_id = messages.id) then 1 end) as tried,
       min(${WANTED_AT}) as oldest, max(${WANTED_AT}) as newest
     from messages where ${IN_DOUBT} group by line_id order by min(line_number), line_id`,
  )
}

/** Number of an account's messages in doubt. */
export async function countInDoubt(sql: Sql, accountId: string): Promise<number> {
  const text = `select count(*) from messages where ${IN_DOUBT} and account_id = $1`
  return (await findValue<number>(sql, text, [accountId])) ?? 0
}

/** Ids of messages in doubt from before a time, in their order. */
export function listInDoubt(sql: Sql, before: number, limit: number): Promise<number[]> {
  const text = `select id from messages where ${IN_DOUBT} and ${WANTED_AT} < $1 order by id limit $2`
  return listValues(sql, text, [before, limit])
}

export function isInDoubt(sql: Sql, id: number): Promise<boolean> {
  return sql.one(`select 1 as found from messages where id = $1 and ${IN_DOUBT}`, [id]).then(Boolean)
}

/** Moves messages with their attempts to the end of the queue, in this order. */
export async function releaseMessages(sql: Sql, ids: readonly number[]): Promise<void> {
  const next = sql.engine === 'postgres' ? 'default' : '(select max(id) + 1 from messages)'
  for (const id of ids) {
    const moved = await findValue<number>(
      sql,
      `update messages set id = ${next} where id = $1 returning id`,
      [id],
    )
    await sql.run('update attempts set message_id = $2 where message_id = $1', [id, moved!])
  }
}

/** Ends the hold if no message is in doubt any more. */
export async function endHold(sql: Sql): Promise<void> {
  await sql.run(
    `update incarnations set held_through = 0
     where held_through > 0 and not exists (select 1 from messages where ${IN_DOUBT})`,
  )
}
