import type { Sql } from '../engine/db.js'
import { HELD_SINCE, HELD_THROUGH } from '../engine/incarnations.js'
import { findValue, listValues } from '../engine/query.js'

/**
 * Messages in doubt: they waited when the database was restored, copied or promoted, and may have been sent before.
 * They stay out of the queue until the operator decides. Two parts, one for each small index of waiting messages; by
 * id, as without the sign before it, the database would read all messages that were ever sent.
 */
const IN_DOUBT = `(
  select * from messages where next_action_at is not null and due_at is null and +id <= ${HELD_THROUGH}
  union all
  select * from messages where next_action_at is not null and due_at <= ${HELD_SINCE} and +id <= ${HELD_THROUGH}) m`
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
       count(case when exists (select 1 from attempts a where a.message_id = m.id) then 1 end) as tried,
       min(${WANTED_AT}) as oldest, max(${WANTED_AT}) as newest
     from ${IN_DOUBT} group by line_id order by min(line_number), line_id`,
  )
}

/** Number of messages in doubt on all lines. Without a hold it reads one small table. */
export async function countInDoubt(sql: Sql): Promise<number> {
  const count = `(select count(*) from ${IN_DOUBT})`
  const text = `select case when ${HELD_THROUGH} = 0 then 0 else ${count} end`
  return (await findValue<number>(sql, text)) ?? 0
}

/**
 * Holds every message in the queue that was accepted before a time. Their lines get another epoch, which stops the
 * process that has the messages in memory.
 */
export async function holdQueue(sql: Sql, before: number): Promise<void> {
  const queue = 'from messages where next_action_at is not null and due_at is null and created_at < $1'
  const last = `(select max(+id) ${queue})`
  await sql.atCommit(async (commit) => {
    await commit.run(
      `update incarnations set held_through = ${last}
       where n = (select max(n) from incarnations) and ${last} > ${HELD_THROUGH}`,
      [before],
    )
    await commit.run(`update line_leases set epoch = epoch + 1 where line_id in (select line_id ${queue})`, [
      before,
    ])
  })
}

/** Ids of messages in doubt from before a time, in their order. */
export function listInDoubt(sql: Sql, before: number, limit: number): Promise<number[]> {
  const text = `select id from ${IN_DOUBT} where ${WANTED_AT} < $1 order by +id limit $2`
  return listValues(sql, text, [before, limit])
}

export function isInDoubt(sql: Sql, id: number): Promise<boolean> {
  return sql.one(`select 1 as found from ${IN_DOUBT} where id = $1`, [id]).then(Boolean)
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
     where held_through > 0 and not exists (select 1 from ${IN_DOUBT})`,
  )
}
