import { type Contact, contactEvent } from '../../../core/contacts/contact.js'
import type { NewEvent } from '../../../core/events/event.js'
import type { NewMessage } from '../../../core/messages/message.js'
import { findLimitedAccount } from '../../../storage/accounts/budgets.js'
import {
  countAllContacts,
  findContacts,
  insertContacts,
  lockContacts,
} from '../../../storage/contacts/contacts.js'
import type { Sql } from '../../../storage/engine/db.js'
import type { Ctx } from '../../ctx.js'

/**
 * Makes the sender of a message a contact of the account, with number and line. Members of a group who have not
 * written to the line directly do not become contacts.
 */
export async function addSenders(
  ctx: Ctx,
  sql: Sql,
  messages: readonly NewMessage[],
  now: number,
): Promise<NewEvent[]> {
  const events: NewEvent[] = []
  const accounts = [...new Set(messages.map((message) => message.accountId))].sort()
  for (const accountId of accounts) {
    const lines = new Map<string, string>()
    for (const { accountId: owner, contact, groupId, lineNumber } of messages)
      if (owner === accountId && groupId === null && contact.startsWith('+')) lines.set(contact, lineNumber)
    const unknown = async () => {
      const known = await findContacts(sql, accountId, 'phone', [...lines.keys()])
      return [...lines].filter(([phone]) => !known.has(phone))
    }
    if (lines.size === 0 || (await unknown()).length === 0) continue
    await lockContacts(sql, accountId)
    const account = await findLimitedAccount(sql, accountId)
    if (!account) continue
    // A full address book must not cost the account its messages.
    const room = account.limits.contacts - (await countAllContacts(sql, { accountId, lineNumbers: null }))
    const contacts = (await unknown()).slice(0, Math.max(0, room)).map(
      ([phone, lineNumber]): Contact => ({
        id: ctx.newId(),
        accountId,
        phone,
        firstName: '',
        lastName: '',
        companyName: account.name || account.email,
        assignedToEmail: null,
        lineNumber,
        tags: [],
        variables: {},
        unclaimed: true,
        createdAt: now,
        updatedAt: now,
      }),
    )
    if (contacts.length === 0) continue
    await insertContacts(sql, contacts)
    events.push(...contacts.map(contactEvent))
  }
  return events
}
