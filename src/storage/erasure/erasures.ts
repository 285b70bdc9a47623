import type { Erasure } from '../../core/erasure/erasure.js'
import type { Sql } from '../engine/db.js'
import { findValue, hasChanged } from '../engine/query.js'
import { table } from '../engine/table.js'

const ERASURES = table<Erasure>()('erasures', {
  text: 'id accountId person hint state step',
  json: 'place counts',
  number: 'requestedAt dueAt finishedAt',
})

export async function insertErasure(sql: Sql, erasure: Erasure): Promise<void> {
  await ERASURES.insert(sql, erasure)
}

export function findErasure(sql: Sql, id: string): Promise<Erasure | undefined> {
  return ERASURES.find(sql, 'id = $1', [id])
}

/** A page of erasures, newest first. */
export function listErasures(sql: Sql, before: string | undefined, limit: number): Promise<Erasure[]> {
  return ERASURES.list(sql, `($1 = '' or id < $1) order by id desc limit $2`, [before ?? '', limit])
}

/** When the next erasure is due. */
export function findNextErasure(sql: Sql): Promise<number | undefined> {
  return findValue(sql, 'select min(due_at) from erasures where due_at is not null')
}

/** Takes the erasure that waits longest, so that no other process takes it before `until`. */
export function takeErasure(sql: Sql, now: number, until: number): Promise<Erasure | undefined> {
  const skip = sql.engine === 'postgres' ? 'for update skip locked' : ''
  return ERASURES.one(
    sql,
    `update erasures set due_at = $2 where id = (
       select id from erasures where due_at <= $1 order by due_at, id limit 1 ${skip}
     ) returning *`,
    [now, until],
  )
}

/** Saves how far an erasure is, in the transaction of its work. False if another process has it by now. */
export function saveErasure(sql: Sql, taken: Erasure, after: Erasure): Promise<boolean> {
  return hasChanged(
    sql,
    `update erasures set state = $3, step = $4, place = $5, counts = $6, due_at = $7, finished_at = $8, person = $9
     where id = $1 and due_at = $2`,
    [
      taken.id,
      taken.dueAt,
      after.state,
      after.step,
      JSON.stringify(after.place),
      JSON.stringify(after.counts),
      after.dueAt,
      after.finishedAt,
      after.person,
    ],
  )
}

/** The unfinished erasure of the same person in the same accounts. */
export function findOpenErasure(
  sql: Sql,
  handle: string,
  accountId: string | null,
): Promise<string | undefined> {
  return findValue(
    sql,
    `select id from erasures where due_at is not null and person = $1 and coalesce(account_id, '') = $2`,
    [handle, accountId ?? ''],
  )
}

/** The line, seat or account that has this address, in words. */
export function findOwnerOf(sql: Sql, handle: string): Promise<string | undefined> {
  return findValue(
    sql,
    `select 'line ' || id from lines where number = $1 and removed_at is null
     union all select 'seat ' || id from seats where lower(email) = $1 and removed_at is null
     union all select 'account ' || id from accounts where lower(email) = $1 and removed_at is null
     limit 1`,
    [handle],
  )
}
