import type { Db, Sql } from '../engine/db.js'
import { exists, findValue, hasChanged, listValues } from '../engine/query.js'
import { deleteInSlices } from '../engine/slices.js'
import type { Lease } from '../lines/leases.js'

/** The provider ids that are already stored, on this line or on an earlier line of its number. */
export async function listStoredIds(
  sql: Sql,
  lineIds: readonly string[],
  providerIds: readonly string[],
): Promise<Set<string>> {
  const stored = new Set<string>()
  if (providerIds.length === 0) return stored
  const list = sql.inList(2, providerIds)
  for (const lineId of lineIds) {
    const text = `select provider_id from messages where line_id = $1 and provider_id ${list.sql}`
    for (const id of await listValues<string>(sql, text, [lineId, list.param])) stored.add(id)
  }
  return stored
}

/** This line and earlier lines with its number and driver: the carrier may redeliver their messages. */
export function listLineSuccession(
  sql: Sql,
  line: { network: string; number: string; driver: string },
): Promise<string[]> {
  const text = 'select id from lines where network = $1 and number = $2 and driver = $3'
  return listValues(sql, text, [line.network, line.number, line.driver])
}

/** Whether the line has a message with this sender, text and send time. */
export function hasTwin(
  sql: Sql,
  twin: { accountId: string; lineId: string; contact: string; content: string; sentAt: number },
  since: number,
): Promise<boolean> {
  return exists(
    sql,
    `select 1 from messages where account_id = $1 and contact = $2 and created_at >= $3
       and line_id = $4 and is_outbound = 0 and sent_at = $5 and content = $6 limit 1`,
    [twin.accountId, twin.contact, since, twin.lineId, twin.sentAt, twin.content],
  )
}

/** Texts from this sender to the line since then. */
export function listRecentTexts(
  sql: Sql,
  by: { accountId: string; lineId: string; contact: string },
  since: number,
): Promise<string[]> {
  return listValues(
    sql,
    `select content from messages where account_id = $1 and contact = $2 and created_at >= $3
       and line_id = $4 and is_outbound = 0`,
    [by.accountId, by.contact, since, by.lineId],
  )
}

/** A send that may come back as an echo. */
interface EchoCandidate {
  ref: string
  content: string
  mediaUrl: string
}

/** Sends of a conversation that may have left since then and have no echo yet, oldest first. */
export function listEchoCandidates(
  sql: Sql,
  where: { accountId: string; lineId: string; conversation: string },
  since: { createdAt: number; wireAt: number },
): Promise<EchoCandidate[]> {
  return sql.all(
    `select a.ref, m.content, m.media_url as "mediaUrl" from messages m join attempts a on a.message_id = m.id
     where m.account_id = $1 and m.contact = $2 and m.created_at >= $3 and m.line_id = $4 and m.is_outbound = 1
       and a.wire_at >= $5 and a.state not in ('refused', 'never_left')
       and not exists (select 1 from echoes e where e.ref = a.ref)
     order by a.wire_at, a.ref`,
    [where.accountId, where.conversation, since.createdAt, where.lineId, since.wireAt],
  )
}

/** Whether another line of ours sent this text to this line; the message is then not an echo. */
export function hasSent(
  sql: Sql,
  from: { network: string; number: string },
  to: { contact: string; content: string },
  since: number,
): Promise<boolean> {
  return exists(
    sql,
    `select 1 from lines l join messages m on m.account_id = l.account_id and m.line_id = l.id
     where l.network = $1 and l.number = $2 and l.removed_at is null
       and m.contact = $3 and m.created_at >= $4 and m.is_outbound = 1 and m.content = $5 limit 1`,
    [from.network, from.number, to.contact, since, to.content],
  )
}

export async function insertEcho(
  sql: Sql,
  echo: { ref: string; lineId: string; providerId: string; at: number },
): Promise<void> {
  await sql.run('insert into echoes (ref, line_id, provider_id, at) values ($1, $2, $3, $4)', [
    echo.ref,
    echo.lineId,
    echo.providerId,
    echo.at,
  ])
}

export function isKnownEcho(sql: Sql, lineId: string, providerId: string): Promise<boolean> {
  return exists(sql, 'select 1 from echoes where line_id = $1 and provider_id = $2', [lineId, providerId])
}

/** A message without a provider id, until the driver reports its acknowledgement. */
interface UnacknowledgedMessage {
  id: string
  lineId: string
  fingerprint: string
  session: string
}

/**
 * Equal messages are numbered by `copy`, a unique key: two transactions cannot both store the same copy. Returns false
 * if another connection has brought an equal message.
 */
export function insertUnacknowledged(
  sql: Sql,
  one: UnacknowledgedMessage,
  now: number,
  since: number,
): Promise<boolean> {
  return hasChanged(
    sql,
    `insert into unthanked_messages (id, line_id, fingerprint, session, stored_at, copy)
     select $1, $2, $3, $4, $5, coalesce(max(copy) + 1, 0) from unthanked_messages
     where line_id = $2 and fingerprint = $3
     having coalesce(sum(case when session <> $4 and stored_at >= $6 then 1 else 0 end), 0) = 0`,
    [one.id, one.lineId, one.fingerprint, one.session, now, since],
  )
}

/**
 * Assigns an equal message of another connection to this one, so that each is matched once. Skips a message that a
 * concurrent transaction matches, or waits for it.
 */
export function claimUnacknowledged(
  sql: Sql,
  like: Omit<UnacknowledgedMessage, 'id'>,
  since: number,
  locked: 'skip' | 'wait',
): Promise<string | undefined> {
  const lock = sql.engine === 'postgres' ? `for update ${locked === 'skip' ? 'skip locked' : ''}` : ''
  return findValue(
    sql,
    `update unthanked_messages set session = $3 where id = (
       select id from unthanked_messages where line_id = $1 and fingerprint = $2 and session <> $3 and stored_at >= $4
       order by id limit 1 ${lock}
     ) returning id`,
    [like.lineId, like.fingerprint, like.session, since],
  )
}

/** Only the line's current epoch may do so: a carrier ignores acknowledgements of a connection that it gave up. */
export async function deleteUnacknowledged(sql: Sql, lease: Lease, ids: readonly string[]): Promise<void> {
  const list = sql.inList(3, ids)
  await sql.run(
    `delete from unthanked_messages where id ${list.sql}
     and exists (select 1 from line_leases where line_id = $1 and epoch = $2)`,
    [lease.lineId, lease.epoch, list.param],
  )
}

export function dropUnacknowledged(db: Db, before: number): Promise<number> {
  return deleteInSlices(db, { table: 'unthanked_messages', where: 'stored_at < $1', params: [before] })
}
