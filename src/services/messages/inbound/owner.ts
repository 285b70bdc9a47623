import type { Line } from '../../../core/lines/line.js'
import { CLAIM_MS, SHARED, scopeOf, type VerifiedContact } from '../../../core/verify/verified-contact.js'
import type { GroupNews } from '../../../drivers/inbound.js'
import type { Sql } from '../../../storage/engine/db.js'
import { findGroupByChat } from '../../../storage/groups/groups.js'
import { listLineMembers } from '../../../storage/lines/lines.js'
import { findLastTurn } from '../../../storage/lines/turns.js'
import {
  askVerifiedContact,
  findLastAsker,
  forgetStranger,
  listLastVerified,
  listRegistered,
  noteStranger,
  verifyAsked,
  verifyOnShared,
  verifyRegistered,
} from '../../../storage/verify/verified-contacts.js'

type Chat = Pick<GroupNews, 'chatId'>

/**
 * The accounts of an inbound message. A dedicated line has one owner. On a shared line the text first verifies every
 * pending registration of its sender. It belongs to the account of its group, or to the account that last wrote to the
 * sender; without one, to the accounts that it has just verified, or that an earlier text verified last. Messages of
 * other senders belong to no account; an account that asks for such a sender within minutes gets it verified at once.
 */
export async function routeTo(
  sql: Sql,
  line: Line,
  from: string,
  now: number,
  group?: Chat,
): Promise<readonly string[]> {
  if (line.accountId) return [line.accountId]
  const verified = group ? [] : await verifyRegistered(sql, line.id, from, now)
  const known = await turnOf(sql, line, from, group)
  if (known) return [known]
  if (verified.length > 0) return verified
  const before = await listLastVerified(sql, line.id, from)
  if (before.length > 0) return before
  await noteStranger(sql, line.id, from, now)
  // An account may have asked while this transaction waited.
  const asked = group ? [] : await verifyRegistered(sql, line.id, from, now)
  if (asked.length > 0) await forgetStranger(sql, line.id, from)
  return asked
}

/** One account of what comes from this sender, such as a call, without a note or a verification. */
export async function ownerOf(sql: Sql, line: Line, from: string, group?: Chat): Promise<string | undefined> {
  if (line.accountId) return line.accountId
  return (
    (await turnOf(sql, line, from, group)) ??
    (await listLastVerified(sql, line.id, from))[0] ??
    findLastAsker(sql, line.id, from)
  )
}

/** The accounts that a message will reach, before the transaction that decides it. */
export async function ownersOf(sql: Sql, line: Line, from: string, group?: Chat): Promise<readonly string[]> {
  if (line.accountId) return [line.accountId]
  const known = await turnOf(sql, line, from, group)
  if (known) return [known]
  const pending = group ? [] : await listRegistered(sql, line.id, from)
  return pending.length > 0 ? pending : listLastVerified(sql, line.id, from)
}

/** The account that a conversation on a shared line is with. */
async function turnOf(sql: Sql, line: Line, from: string, group?: Chat): Promise<string | undefined> {
  const known = group && (await findGroupByChat(sql, line.id, group.chatId))
  if (known) return known.accountId
  const members = await listLineMembers(sql, line.id)
  return members.length <= 1 ? members[0] : findLastTurn(sql, line.id, from)
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
  // Sorted, so that two transactions never wait for each other.
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
