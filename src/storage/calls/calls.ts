import type { Call } from '../../core/calls/call.js'
import type { Sql } from '../engine/db.js'
import { findValue, forUpdate } from '../engine/query.js'
import { table } from '../engine/table.js'

const CALLS = table<Call>()('calls', {
  text: 'id network providerId direction lineId lineNumber accountId caller forwardedTo state outcome sentBy',
  number: 'createdAt answeredAt endedAt dueAt',
  flag: 'voicemail',
})

export async function insertCall(sql: Sql, call: Call): Promise<void> {
  await CALLS.insert(sql, call)
}

/** Returns whether the call was not stored before. */
export function insertCarrierCall(sql: Sql, call: Call): Promise<boolean> {
  const tail = 'on conflict (line_id, provider_id) where provider_id is not null do nothing'
  return CALLS.insert(sql, call, {}, tail)
}

export async function saveCall(sql: Sql, call: Call): Promise<void> {
  await CALLS.update(sql, [call], 'id', 'state outcome forwardedTo answeredAt endedAt dueAt voicemail')
}

/** Locks the call until the commit: of two transactions that end it, the second finds it ended. */
export function lockCall(sql: Sql, id: string): Promise<Call | undefined> {
  return CALLS.find(sql, `id = $1 ${forUpdate(sql)}`, [id])
}

export function lockCarrierCall(sql: Sql, lineId: string, providerId: string): Promise<Call | undefined> {
  return CALLS.find(sql, `line_id = $1 and provider_id = $2 ${forUpdate(sql)}`, [lineId, providerId])
}

/** Locks calls at carriers that began before this time and have not ended. */
export function lockLostCalls(sql: Sql, before: number, limit: number): Promise<Call[]> {
  const where = `ended_at is null and provider_id is not null and created_at <= $1
    order by created_at limit $2 ${forUpdate(sql)}`
  return CALLS.list(sql, where, [before, limit])
}

/** Locks the calls of a line whose ringing time is over. */
export function lockDueCalls(sql: Sql, lineId: string, now: number, limit: number): Promise<Call[]> {
  const where = `line_id = $1 and due_at <= $2 order by due_at, id limit $3 ${forUpdate(sql)}`
  return CALLS.list(sql, where, [lineId, now, limit])
}

export function lockOpenCalls(sql: Sql, lineId: string): Promise<Call[]> {
  return CALLS.list(sql, `line_id = $1 and ended_at is null order by id ${forUpdate(sql)}`, [lineId])
}

export function findNextCallDue(sql: Sql, lineId: string): Promise<number | undefined> {
  return findValue(sql, 'select min(due_at) from calls where line_id = $1 and due_at is not null', [lineId])
}

/** The calls of an account's virtual phone, newest first: calls that it made, and calls that were forwarded to it. */
export function listPhoneCalls(sql: Sql, accountId: string, phone: string, limit: number): Promise<Call[]> {
  return CALLS.all(
    sql,
    `select * from (select * from calls where network = $1 and caller = $2 order by id desc limit $3) made
     union
     select * from (select * from calls where account_id = $1 and forwarded_to = $2
       and provider_id is null order by id desc limit $3) got
     order by id desc limit $3`,
    [accountId, phone, limit],
  )
}

/** Calls that an account placed, newest first. */
export function listOutboundCalls(sql: Sql, accountId: string, limit: number): Promise<Call[]> {
  const where = "account_id = $1 and direction = 'outbound' order by id desc limit $2"
  return CALLS.list(sql, where, [accountId, limit])
}

/** Calls that an account received or placed, newest first. */
export function listCalls(
  sql: Sql,
  accountId: string,
  beforeId: string | undefined,
  limit: number,
): Promise<Call[]> {
  const where = `account_id = $1 and state <> 'turned_away' ${beforeId === undefined ? '' : 'and id < $3'}`
  const params = [accountId, limit, ...(beforeId === undefined ? [] : [beforeId])]
  return CALLS.list(sql, `${where} order by id desc limit $2`, params)
}
