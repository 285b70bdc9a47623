import type { Reads, Sql } from '../engine/db.js'
import { exists, listValues } from '../engine/query.js'
import type { Scope } from './walk.js'

/** An account with its test world and the worlds of both. */
export function listAccountWorlds(sql: Reads, accountId: string): Promise<string[]> {
  return listValues(
    sql,
    `select id from accounts where id = $1 or twin_id = $1 or owner = $1
       or owner in (select id from accounts where twin_id = $1)`,
    [accountId],
  )
}

/** Ids of accounts from this one on, removed ones too, in their order. */
export function listAccountIds(sql: Reads, scope: Scope, from: string, limit: number): Promise<string[]> {
  const list = sql.inList(3, scope ?? [])
  const where = scope ? `and id ${list.sql}` : ''
  const params = scope ? [from, limit, list.param] : [from, limit]
  return listValues(sql, `select id from accounts where id >= $1 ${where} order by id limit $2`, params)
}

export interface PersonMessage {
  id: number
  accountId: string
}

/** Messages with a person outside of groups, and from them in groups, in the order of accounts and ids. */
export function listMessagesWith(
  sql: Reads,
  accounts: readonly string[],
  { handle, until, after }: { handle: string; until: number; after: PersonMessage },
  limit: number,
): Promise<PersonMessage[]> {
  const list = sql.inList(6, accounts)
  return sql.all(
    `select id, account_id as "accountId" from messages
     where account_id ${list.sql} and contact = $1 and created_at <= $2 and (account_id, id) > ($3, $4)
     order by account_id, id limit $5`,
    [handle, until, after.accountId, after.id, limit, list.param],
  )
}

/** Whether a call with this person has not ended. */
export function hasOpenCall(sql: Sql, handle: string, until: number): Promise<boolean> {
  return exists(
    sql,
    `select 1 from calls where ended_at is null and (caller = $1 or forwarded_to = $1) and created_at <= $2
       and state in ('ringing', 'answered')`,
    [handle, until],
  )
}
