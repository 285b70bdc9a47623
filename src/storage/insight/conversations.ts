import type { Message } from '../../core/messages/message.js'
import type { Row, Sql } from '../engine/db.js'
import { toMessage } from '../messages/rows.js'
import type { ConversationKey, MessagePosition } from '../messages/scan.js'

/** The latest message of a conversation on one of these lines, without failed ones. */
export async function findLatestWith(
  sql: Sql,
  accountId: string,
  contact: string,
  lineIds: readonly string[],
): Promise<Message | undefined> {
  const list = sql.inList(3, lineIds)
  const row = await sql.one<Row>(
    `select * from messages where account_id = $1 and contact = $2 and line_id ${list.sql} and group_id is null
       and status not in ('ERROR', 'DECLINED') order by created_at desc, id desc limit 1`,
    [accountId, contact, list.param],
  )
  return row && toMessage(row)
}

/** The conversations among these with a message after `after` and up to `upTo`, inclusive. */
export async function findTurnsBetween(
  sql: Sql,
  accountId: string,
  turns: readonly ConversationKey[],
  after: MessagePosition,
  upTo: MessagePosition,
): Promise<Set<ConversationKey>> {
  const found = await Promise.all(
    turns.map((turn) =>
      sql.one(
        `select 1 as yes from messages where account_id = $1 and deleted_at is null and line_id = $2
           and ${turn.groupId === null ? 'contact = $3 and group_id is null' : 'group_id = $3'}
           and (created_at, id) >= ($4, $5) and (created_at, id) <= ($6, $7) limit 1`,
        [
          accountId,
          turn.lineId,
          turn.groupId ?? turn.contact,
          after.createdAt,
          after.id,
          upTo.createdAt,
          upTo.id,
        ],
      ),
    ),
  )
  return new Set(turns.filter((_, i) => found[i] !== undefined))
}
