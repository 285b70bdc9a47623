import { type Account, networkOf } from '../core/account.js'
import { AppError } from '../core/errors.js'
import { MAX_MEMBERS, MIN_BEFORE_REMOVAL, MIN_MEMBERS } from '../core/group.js'
import type { Phone, PhoneGroup } from '../core/phone-world.js'
import type { Ctx } from '../ctx.js'
import type { Sql } from '../storage/db.js'
import { findGroup } from '../storage/groups.js'
import { findPhoneGroup, insertPhoneGroup, lockPhoneGroup, savePhoneGroup } from '../storage/phone-groups.js'
import { findPhone, insertPhoneMessages, type NewPhoneMessage } from '../storage/phones.js'
import { type ChatState, newChatId } from './phone-groups.js'
import { type PhoneText, requireSimulatedLine, setPhone } from './phones.js'

/** What people do with group chats on their phones. */

/** A chat by the network's id or by the id of the group it is on our side. Another account's is absent. */
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

/** A person makes a group of a line, other people and themselves. */
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
  for (const number of members) requireImessage(await phoneOf(ctx, sql, account, number))
  const chat: PhoneGroup = {
    id: newChatId(ctx),
    network: networkOf(account),
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
  return chat
}

/** A person in a chat renames it, changes its photo, or takes somebody in. */
export async function changeChat(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  id: string,
  by: string,
  change: { name?: string | null; photoUrl?: string | null; add?: string },
): Promise<PhoneGroup> {
  return changeAs(sql, account, id, by, async (chat) => {
    const { add, ...rest } = change
    if (add === undefined) return rest
    if (add === chat.lineNumber) throw new AppError('invalid', 'number: the line is in it already')
    requireImessage(await phoneOf(ctx, sql, account, add))
    const members = [...new Set([...chat.members, add])]
    if (members.length > MAX_MEMBERS)
      throw new AppError('invalid', `number: a group has at most ${MAX_MEMBERS} people`)
    return { ...rest, members }
  })
}

/** A person leaves a chat, which the others have to be enough for. */
export async function leaveChat(sql: Sql, account: Account, id: string, by: string): Promise<PhoneGroup> {
  return changeAs(sql, account, id, by, async (chat) => {
    if (chat.members.length + 1 < MIN_BEFORE_REMOVAL)
      throw new AppError('invalid', `by: nobody can leave a group of fewer than ${MIN_BEFORE_REMOVAL}`)
    return { members: chat.members.filter((number) => number !== by) }
  })
}

async function changeAs(
  sql: Sql,
  account: Account,
  id: string,
  by: string,
  change: (chat: PhoneGroup) => Promise<Partial<ChatState>>,
): Promise<PhoneGroup> {
  const chat = (await lockPhoneGroup(sql, (await requireChat(sql, account, id)).id))!
  requireMember(chat, by)
  const after = { ...chat, ...(await change(chat)), version: chat.version + 1 }
  await savePhoneGroup(sql, after)
  return after
}

/** A person writes into a chat: to the line, and to the other phones in it. */
export async function textToChat(
  ctx: Ctx,
  sql: Sql,
  account: Account,
  number: string,
  id: string,
  text: Omit<PhoneText, 'to'>,
): Promise<NewPhoneMessage> {
  const chat = await requireChat(sql, account, id)
  requireMember(chat, number)
  const phone = await phoneOf(ctx, sql, account, number)
  requireImessage(phone)
  if (!phone.power)
    throw new AppError('invalid', `The phone ${number} is switched off; switch it on to send from it`)
  const now = ctx.clock.now()
  const message: NewPhoneMessage = {
    network: chat.network,
    phone: number,
    lineId: chat.lineId,
    lineNumber: chat.lineNumber,
    fromPhone: true,
    providerId: ctx.newId().toUpperCase(),
    ref: null,
    handle: null,
    content: text.content,
    mediaUrl: text.mediaUrl,
    sendStyle: '',
    replyTo: text.replyTo,
    replyToPart: text.replyToPart ?? null,
    extra: text.extra ?? null,
    chatId: chat.id,
    sender: null,
    service: 'iMessage',
    createdAt: now,
    arrivedAt: null,
    readAt: null,
    dueAt: now,
  }
  const others = chat.members.filter((member) => member !== number)
  const copies = others.map((member) => ({ ...message, phone: member, fromPhone: false, sender: number }))
  await insertPhoneMessages(sql, [message, ...copies])
  return message
}

async function phoneOf(ctx: Ctx, sql: Sql, account: Account, number: string): Promise<Phone> {
  const network = networkOf(account)
  return (await findPhone(sql, network, number)) ?? (await setPhone(ctx, sql, network, number, {})).phone
}

function requireMember(chat: PhoneGroup, number: string): void {
  if (!chat.members.includes(number))
    throw new AppError('invalid', `The phone ${number} is not in this group`)
}

function requireImessage(phone: Phone): void {
  if (!phone.imessage)
    throw new AppError('invalid', `The phone ${phone.number} has no iMessage, and groups are iMessage only`)
}
