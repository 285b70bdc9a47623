import { topics } from '../../core/topics.js'
import type { Sql } from '../engine/db.js'
import { findValue, hasChanged } from '../engine/query.js'
import { table } from '../engine/table.js'

/** An account's conversation whose sends are held back until a time. */
export interface Hold {
  lineId: string
  /** The contact's number, or the id of the group. */
  conversation: string
  accountId: string
  groupId: string | null
  /** Number of alternating messages that triggered the hold. */
  alternations: number
  heldAt: number
  until: number
}

type HoldRow = Omit<Hold, 'until'> & { heldUntil: number }

const HOLDS = table<HoldRow>()('conversation_holds', {
  text: 'lineId conversation accountId groupId',
  number: 'alternations heldAt heldUntil',
})
const toHold = ({ heldUntil, ...hold }: HoldRow): Hold => ({ ...hold, until: heldUntil })

/** Returns whether the hold is new. */
export function insertHold(sql: Sql, { until, ...hold }: Hold): Promise<boolean> {
  sql.announce(topics.holds)
  return HOLDS.insert(sql, { ...hold, heldUntil: until }, {}, 'on conflict do nothing')
}

type HoldKey = Pick<Hold, 'lineId' | 'conversation' | 'accountId'>

const OF_ACCOUNT = 'line_id = $1 and conversation = $2 and account_id = $3'

/** Deletes the hold; returns false if it has ended already. */
export function deleteHold(sql: Sql, { lineId, conversation, accountId }: HoldKey): Promise<boolean> {
  sql.announce(topics.holds)
  const text = `delete from conversation_holds where ${OF_ACCOUNT}`
  return hasChanged(sql, text, [lineId, conversation, accountId])
}

export async function findHold(
  sql: Sql,
  { lineId, conversation, accountId }: HoldKey,
): Promise<Hold | undefined> {
  const hold = await HOLDS.find(sql, OF_ACCOUNT, [lineId, conversation, accountId])
  return hold && toHold(hold)
}

/** The holds of a conversation: one, or on a shared line one for each account. */
export async function listHoldsIn(sql: Sql, lineId: string, conversation: string): Promise<Hold[]> {
  const where = 'line_id = $1 and conversation = $2 order by account_id'
  return (await HOLDS.list(sql, where, [lineId, conversation])).map(toHold)
}

export async function listHolds(sql: Sql): Promise<Hold[]> {
  return (await HOLDS.list(sql, '1 = 1 order by held_until, conversation')).map(toHold)
}

/** Holds whose time is over, and holds of a clock that was ahead. */
export async function listHoldsDue(sql: Sql, now: number, limit: number): Promise<Hold[]> {
  const where = 'held_until <= $1 or held_at > $1 order by held_until limit $2'
  return (await HOLDS.list(sql, where, [now, limit])).map(toHold)
}

export function findNextHoldEnd(sql: Sql, now: number): Promise<number | undefined> {
  const text = 'select min(case when held_at > $1 then $1 else held_until end) from conversation_holds'
  return findValue(sql, text, [now])
}
