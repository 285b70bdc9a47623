import type { Line } from '../../../core/lines/line.js'
import { CLAIM_MS, SHARED, scopeOf, type VerifiedContact } from '../../../core/verify/verified-contact.js'
import type { GroupNews } from '../../../drivers/inbound.js'
import type { Sql } from '../../../storage/engine/db.js'
import { findGroupByChat } from '../../../storage/groups/groups.js'
import { listLineMembers } from '../../../storage/lines/lines.js'
import {
  askVerifiedContact,
  findLastAsker,
  forgetStranger,
  noteStranger,
  verifyAsked,
  verifyOnShared,
} from '../../../storage/verify/verified-contacts.js'

type Chat = Pick<GroupNews, 'chatId'>

/**
 * The account of an inbound message. A dedicated line has one owner. On a shared line the message belongs to the
 * account of its group, or to the account that last wrote to the sender or asked to verify the sender. Messages of
 * other senders belong to no account; an account that asks for such a sender within minutes gets it verified at once.
 */
export async function routeTo(
  sql: Sql,
  line: Line,
  from: string,
  now: number,
  group?: Chat,
): Promise<string | undefined> {
  const known = await ownerOf(sql, line, from, group)
  if (known || line.accountId) return known
  await noteStranger(sql, line.id, from, now)
  // An account may have asked while this transaction waited.
  const asked = await findLastAsker(sql, line.id, from)
  if (asked) await forgetStranger(sql, line.id, from)
  return asked?.accountId
}

/** Like `routeTo`, but without a note, for calls and previews. */
export async function ownerOf(sql: Sql, line: Line, from: string, group?: Chat): Promise<string | undefined> {
  if (line.accountId) return line.accountId
  const known = group && (await findGroupByChat(sql, line.id, group.chatId))
  if (known) return known.accountId
  const members = await listLineMembers(sql, line.id)
  return members.length <= 1 ? members[0] : lastTurnedTo(sql, line, members, from)
}

async function lastTurnedTo(
  sql: Sql,
  line: Line,
  members: readonly string[],
  number: string,
): Promise<string | undefined> {
  const list = sql.inList(2, members)
  const wrote = await sql.one<{ account_id: string; created_at: number }>(
    `select account_id, created_at from messages where contact = $1 and account_id in ${list.sql} and line_id = $3 and is_outbound = 1
     order by created_at desc limit 1`,
    [number, list.param, line.id],
  )
  const asked = await findLastAsker(sql, line.id, number)
  return asked && (!wrote || asked.at >= wrote.created_at) ? asked.accountId : wrote?.account_id
}

/** Records what messages prove by arriving on this line. */
export async function noteSenders(
  sql: Sql,
  line: Line,
  messages: readonly { accountId: string; contact: string; groupId: string | null }[],
  now: number,
): Promise<void> {
  const people = new Map<string, { accountId: string; number: string }>()
  for (const { accountId, contact: number, groupId } of messages) {
    if (groupId === null) people.set(`${number} ${accountId}`, { accountId, number })
  }
  // SortedInbound, so that two transactions never wait for each other.
  const senders = [...people.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sender]) => sender)
  if (line.kind === 'shared') await verifyOnShared(sql, senders, now)
  else await verifyAsked(sql, scopeOf(line), senders, now)
}

/** Asks for a verified contact on the account's shared line. A message from the last minutes counts. */
export async function askOnShared(
  sql: Sql,
  accountId: string,
  line: Line | undefined,
  number: string,
  now: number,
): Promise<VerifiedContact> {
  let heard = false
  if (line) {
    heard = (await noteStranger(sql, line.id, number, 0)) > now - CLAIM_MS
    await forgetStranger(sql, line.id, number)
  }
  return askVerifiedContact(sql, accountId, number, SHARED, now, heard)
}
