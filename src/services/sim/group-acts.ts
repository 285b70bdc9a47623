import type { Account } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import { MAX_MEMBERS, MIN_BEFORE_REMOVAL, MIN_MEMBERS } from '../../core/groups/group.js'
import type { Service } from '../../core/messages/message.js'
import { type Phone, type PhoneGroup, servicesOf } from '../../core/sim/phone.js'
import { topics } from '../../core/topics.js'
import type { Sql } from '../../storage/engine/db.js'
import { findGroup } from '../../storage/groups/groups.js'
import { findPhoneGroup, insertPhoneGroup, lockPhoneGroup, savePhoneGroup } from '../../storage/sim/groups.js'
import { insertPhoneMessages, type NewPhoneMessage } from '../../storage/sim/messages.js'
import { findPhone, listPhonesByEmail } from '../../storage/sim/phones.js'
import type { Ctx } from '../ctx.js'
import { type ChatState, newChatId, noteChange } from './groups.js'
import { messageFromPhone, type PhoneText } from './phone-message.js'
import { requireSimulatedLine, setPhone } from './phones.js'

/** Acts of people in group chats on their phones. */

/** A chat by the network's id or by the id of the group. A chat of another account counts as absent. */
export async function requireChat(sql: Sql, account: Account, id: string): Promise<PhoneGroup> {
  const chat =
    (await findPhoneGroup(sql, id)) ??
    (await findPhoneGroup(sql, (await findGroup(sql, id, account.id))?.chatId ?? ''))
  if (chat?.accountId !== account.id) throw new AppError('not_found', 'There is no such group')
  return chat
}

export interface NewChat {
  by: string
  line: string
  members: readonly string[]
  name: string | null
}

/** A person creates a group with a line and other people. */
export async function startChat(ctx: Ctx, sql: Sql, account: Account, made: NewChat): Promise<PhoneGroup> {
  const { line, capabilities } = await requireSimulatedLine(ctx, sql, account, 'line', made.line)
  if (!capabilities.groups) throw new AppError('invalid', 'line: this line has no groups')
  const members = [...new Set([made.by, ...made.members])]
  if (members.includes(line.number)) throw new AppError('invalid', 'members: the line is in it anyway')
  if (members.length < MIN_MEMBERS || members.length > MAX_MEMBERS)
    throw new AppError(
      'invalid',
      `members: a group is ${MIN_MEMBERS} to ${MAX_MEMBERS} people, its maker among them, and the line`,
    )
  for (const handle of members) await requirePhones(ctx, sql, account, handle)
  const chat: PhoneGroup = {
    id: newChatId(ctx),
    network: account.id,
    accountId: account.id,
    lineId: line.id,
    lineNumber: line.number,
    groupId: null,
    name: made.name,
    photoUrl: null,
    members,
    createdAt: ctx.clock.now(),
    version: 1,
  }
  await insertPhoneGroup(sql, chat)
  await noteChange(ctx, sql, chat, made.by)
  return chat
}

/** A member renames a chat, changes its photo, or adds a person. */
export async function changeChat(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  id: string,
  by: string,
  change: { name?: string | null; photoUrl?: string | null; add?: string },
): Promise<PhoneGroup> {
  return changeAs(ctx, sql, account, id, by, async (chat) => {
    const { add, ...rest } = change
    if (add === undefined) return rest
    if (add === chat.lineNumber) throw new AppError('invalid', 'number: the line is in it already')
    await requirePhones(ctx, sql, account, add)
    const members = [...new Set([...chat.members, add])]
    if (members.length > MAX_MEMBERS)
      throw new AppError('invalid', `number: a group has at most ${MAX_MEMBERS} people`)
    return { ...rest, members }
  })
}

/** A member leaves a chat, if enough others remain. */
export async function leaveChat(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  id: string,
  by: string,
): Promise<PhoneGroup> {
  return changeAs(ctx, sql, account, id, by, async (chat, handle) => {
    if (chat.members.length + 1 < MIN_BEFORE_REMOVAL)
      throw new AppError('invalid', `by: nobody can leave a group of fewer than ${MIN_BEFORE_REMOVAL}`)
    return { members: chat.members.filter((member) => member !== handle) }
  })
}

async function changeAs(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  id: string,
  by: string,
  change: (chat: PhoneGroup, handle: string) => Promise<Partial<ChatState>>,
): Promise<PhoneGroup> {
  const chat = (await lockPhoneGroup(sql, (await requireChat(sql, account, id)).id))!
  const [phone] = await requirePhones(ctx, sql, account, by)
  // A group by MMS has no name, photo or changes of members.
  for (const member of chat.members) await requirePhones(ctx, sql, account, member)
  const handle = memberOf(chat, phone!)
  const after = { ...chat, ...(await change(chat, handle)), version: chat.version + 1 }
  await savePhoneGroup(sql, after)
  await noteChange(ctx, sql, after, handle)
  return after
}

/** A member writes into a chat: to the line, and to the other phones in it. */
export async function textToChat(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  number: string,
  id: string,
  text: Omit<PhoneText, 'to'>,
): Promise<NewPhoneMessage> {
  const chat = await requireChat(sql, account, id)
  const phone = await phoneOf(ctx, sql, account, number)
  const handle = memberOf(chat, phone)
  if (!phone.power)
    throw new AppError('invalid', `The phone ${number} is switched off; switch it on to send from it`)
  // One member without iMessage makes it a group MMS for everyone.
  const hasIMessage = await Promise.all(
    chat.members.map(async (member) => (await phonesOf(ctx, sql, account, member)).length > 0),
  )
  const service = hasIMessage.includes(false) ? 'SMS' : 'iMessage'
  const message = messageFromPhone(service === 'iMessage' ? text : { ...text, sendStyle: '' }, {
    network: chat.network,
    phone: number,
    lineId: chat.lineId,
    lineNumber: chat.lineNumber,
    providerId: ctx.newId().toUpperCase(),
    chatId: chat.id,
    sender: handle === number ? null : handle,
    service,
    createdAt: ctx.clock.now(),
  })
  const others = chat.members.filter((member) => member !== handle)
  const phones = (
    await Promise.all(others.map((member) => phonesOf(ctx, sql, account, member, service)))
  ).flat()
  const numbers = new Set(phones.map((other) => other.number))
  numbers.delete(number)
  const copies = [...numbers].map((other) => ({ ...message, phone: other, fromPhone: false, sender: handle }))
  await insertPhoneMessages(sql, [message, ...copies])
  sql.announce(topics.screens, chat.network)
  return message
}

/** The phones that reach a person by iMessage, which making and changing groups needs. */
async function requirePhones(ctx: Ctx, sql: Sql, account: Account, handle: string): Promise<Phone[]> {
  const phones = await phonesOf(ctx, sql, account, handle)
  if (phones.length === 0)
    throw new AppError('invalid', `${handle} has no iMessage. Making and changing a group is iMessage only.`)
  return phones
}

async function phonesOf(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  handle: string,
  service: Service = 'iMessage',
): Promise<Phone[]> {
  const phones = handle.includes('@')
    ? await listPhonesByEmail(sql, account.id, handle)
    : [await phoneOf(ctx, sql, account, handle)]
  return phones.filter((phone) => servicesOf(phone).includes(service))
}

/** The phone with this number, which exists from now on. */
async function phoneOf(ctx: Ctx, sql: Sql, account: Account, number: string): Promise<Phone> {
  const network = account.id
  return (await findPhone(sql, network, number)) ?? (await setPhone(ctx, sql, network, number, {})).phone
}

/** The handle of a phone in a chat: its number, or its owner's e-mail address. */
function memberOf(chat: PhoneGroup, phone: Phone): string {
  const handle = [phone.number, phone.email].find((one) => one !== null && chat.members.includes(one))
  if (!handle) throw new AppError('invalid', `The phone ${phone.number} is not in this group`)
  return handle
}
