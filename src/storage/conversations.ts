import type { Message } from '../core/message.js'
import type { Row, Sql } from './db.js'
import { toMessage } from './messages.js'

/** The latest message of a conversation on one of these lines, failed ones aside: they started nothing. */
export async function findLatestWith(
  sql: Sql,
  accountId: string,
  contact: string,
  lineIds: readonly string[],
): Promise<Message | undefined> {
  const list = sql.inList(3, lineIds)
  const row = await sql.one<Row>(
    `select * from messages where account_id = $1 and contact = $2 and line_id in ${list.sql} and group_id is null
       and status not in ('ERROR', 'DECLINED') order by created_at desc, id desc limit 1`,
    [accountId, contact, list.param],
  )
  return row && toMessage(row)
}
