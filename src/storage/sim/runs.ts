import type { Message } from '../../core/messages/message.js'
import type { Sql } from '../engine/db.js'
import { countMessages } from '../messages/messages.js'
import { toMessage } from '../messages/rows.js'
import type { WorldScope } from './world.js'

/** Deletes the messages of a test run with all that became of them. Answers how many there were. */
export async function deleteRunMessages(sql: Sql, accountId: string, run: string): Promise<number> {
  const lock = sql.engine === 'postgres' ? 'for update' : ''
  const rows = await sql.all(
    `select * from messages where account_id = $1 and run = $2 order by id ${lock}`,
    [accountId, run],
  )
  const messages: Message[] = rows.map(toMessage)
  const ids = sql.inIds(
    1,
    messages.map(({ id }) => id),
  )
  const handles = sql.inList(
    2,
    messages.map(({ handle }) => handle),
  )
  const posted = `(select id from webhook_deliveries where account_id = $1 and subject in ${handles.sql})`
  await sql.run(`delete from webhook_attempts where delivery_id in ${posted}`, [accountId, handles.param])
  await sql.run(`delete from webhook_deliveries where id in ${posted}`, [accountId, handles.param])
  await sql.run(`delete from attempts where message_id in ${ids.sql}`, [ids.param])
  await sql.run(`delete from messages where id in ${ids.sql}`, [ids.param])
  await countMessages(
    sql,
    messages.filter(({ deletedAt }) => deletedAt === null),
    -1,
  )
  return messages.length
}

/** The same for what its phones show, and the phones that it made and nobody else uses. */
export async function deleteRunPhones(sql: Sql, scope: WorldScope, run: string): Promise<number> {
  const lines = sql.inList(3, scope.lines)
  const params = [scope.network, run, lines.param]
  const shown = `network = $1 and run = $2 and line_id in ${lines.sql}`
  await sql.run(
    `delete from phone_reactions where network = $1
       and provider_id in (select provider_id from phone_messages where ${shown})`,
    params,
  )
  await sql.run(`delete from phone_messages where ${shown}`, params)
  return sql.run(
    `delete from phones where network = $1 and run = $2 and account_id = $3
       and not exists (select 1 from phone_messages m where m.network = $1 and m.phone = phones.number)`,
    [scope.network, run, scope.accountId],
  )
}

/** Messages that phones of a run have sent and that are about to reach their line. */
export async function countRunArriving(
  sql: Sql,
  scope: WorldScope,
  run: string,
  now: number,
): Promise<number> {
  const row = await sql.one<{ n: number }>(
    'select count(*) as n from phone_messages where network = $1 and run = $2 and from_phone = 1 and due_at <= $3',
    [scope.network, run, now],
  )
  return row!.n
}
