import { topics } from '../../core/topics.js'
import type { Row, Sql } from '../engine/db.js'

/** A conversation whose sends are held back until a time. */
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

/** Returns whether the hold is new. */
export async function insertHold(sql: Sql, hold: Hold): Promise<boolean> {
  const added = await sql.run(
    `insert into conversation_holds (line_id, conversation, account_id, group_id, alternations, held_at, held_until)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [
      hold.lineId,
      hold.conversation,
      hold.accountId,
      hold.groupId,
      hold.alternations,
      hold.heldAt,
      hold.until,
    ],
  )
  sql.announce(topics.holds)
  return added > 0
}

/** Deletes and returns the hold; a second call returns nothing. */
export async function deleteHold(sql: Sql, lineId: string, conversation: string): Promise<Hold | undefined> {
  const row = await sql.one(
    'delete from conversation_holds where line_id = $1 and conversation = $2 returning *',
    [lineId, conversation],
  )
  sql.announce(topics.holds)
  return row && toHold(row)
}

export async function findHold(sql: Sql, lineId: string, conversation: string): Promise<Hold | undefined> {
  const row = await sql.one('select * from conversation_holds where line_id = $1 and conversation = $2', [
    lineId,
    conversation,
  ])
  return row && toHold(row)
}

export async function listHolds(sql: Sql): Promise<Hold[]> {
  return (await sql.all('select * from conversation_holds order by held_until, conversation')).map(toHold)
}

export async function listHoldsDue(sql: Sql, now: number, limit: number): Promise<Hold[]> {
  const rows = await sql.all(
    'select * from conversation_holds where held_until <= $1 order by held_until limit $2',
    [now, limit],
  )
  return rows.map(toHold)
}

export async function findNextHoldEnd(sql: Sql): Promise<number | undefined> {
  const row = await sql.one<{ at: number | null }>('select min(held_until) as at from conversation_holds')
  return row?.at ?? undefined
}

function toHold(row: Row): Hold {
  return {
    lineId: row.line_id as string,
    conversation: row.conversation as string,
    accountId: row.account_id as string,
    groupId: row.group_id as string | null,
    alternations: row.alternations as number,
    heldAt: row.held_at as number,
    until: row.held_until as number,
  }
}
