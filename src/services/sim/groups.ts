import type { Line } from '../../core/lines/line.js'
import type { PhoneGroup, PhoneMessage } from '../../core/sim/phone.js'
import { topics } from '../../core/topics.js'
import type { Group, Outbound } from '../../drivers/contract.js'
import type { Sql } from '../../storage/engine/db.js'
import { requireCurrent } from '../../storage/lines/lines.js'
import { insertGroupChange } from '../../storage/sim/group-changes.js'
import {
  findPhoneGroup,
  findPhoneGroupFor,
  insertPhoneGroup,
  listOnTheWay,
  listUntoldPhoneGroups,
  lockPhoneGroup,
  savePhoneGroup,
  savePhoneGroupTold,
} from '../../storage/sim/groups.js'
import { insertPhoneMessages, requireUnfenced } from '../../storage/sim/messages.js'
import { listPhonesByEmail } from '../../storage/sim/phones.js'
import type { Platform } from '../ctx.js'
import { messageToPhone } from './phone-message.js'
import { inThisWorld } from './this-world.js'

const UNTOLD_LIMIT = 256

/** A group chat as its members' phones show it. */
export type ChatState = Pick<PhoneGroup, 'members' | 'name' | 'photoUrl'>

/** The group chats of the simulated network, for lines. */
export function createGroupNetwork(ctx: Platform) {
  /** The chat of a group, by the line's chat id, else by the group it was created for. */
  async function findChat(line: Line, group: Group): Promise<PhoneGroup | undefined> {
    const byChat = group.chatId === null ? undefined : await findPhoneGroup(ctx.db, group.chatId)
    return byChat ?? findPhoneGroupFor(ctx.db, line.id, group.id)
  }

  async function makeChat(line: Line, group: Group): Promise<PhoneGroup> {
    const chat: PhoneGroup = {
      id: newChatId(ctx),
      network: group.accountId,
      accountId: group.accountId,
      lineId: line.id,
      lineNumber: line.number,
      groupId: group.id,
      name: group.name,
      photoUrl: null,
      members: group.members,
      createdAt: ctx.clock.now(),
      version: 1,
    }
    const isNew = await inThisWorld(
      ctx.db.tx(async (sql) => {
        const added = await insertPhoneGroup(sql, chat)
        await requireCurrent(sql, [line])
        if (added) await noteChange(ctx, sql, chat, line.number)
        return added
      }),
    )
    ctx.wakes.wake(topics.phones(line.id))
    return isNew ? chat : (await findPhoneGroupFor(ctx.db, line.id, group.id))!
  }

  return {
    findChat,
    makeChat,
    /** The phones whose owner has this e-mail address. */
    phonesAt: (network: string, email: string) => listPhonesByEmail(ctx.db, network, email),
    chat: (id: string) => findPhoneGroup(ctx.db, id),
    /** Changes a chat for everyone in it. `change` returns undefined if there is nothing to change. */
    async changeChat(line: Line, id: string, change: (chat: PhoneGroup) => Partial<ChatState> | undefined) {
      await ctx.db.tx(async (sql) => {
        const chat = (await lockPhoneGroup(sql, id))!
        const changes = change(chat)
        if (!changes) return
        const after = { ...chat, ...changes, version: chat.version + 1 }
        await savePhoneGroup(sql, after)
        await noteChange(ctx, sql, after, line.number)
      })
      ctx.wakes.wake(topics.phones(line.id))
    },
    /** Accepts a message for these phones of a chat. Resolves with the network's id of it. */
    async takeForChat(line: Line, message: Outbound, chat: PhoneGroup, phones: string[], latencyMs: number) {
      const now = ctx.clock.now()
      const providerId = ctx.newId().toUpperCase()
      const rows = phones.map((phone) =>
        messageToPhone(line, message, {
          phone,
          providerId,
          chatId: chat.id,
          createdAt: now,
          dueAt: now + latencyMs,
        }),
      )
      ctx.failpoint('carrier.before_take')
      await inThisWorld(
        ctx.db.write((sql) =>
          Promise.all([
            insertPhoneMessages(sql, rows),
            requireCurrent(sql, [line]),
            requireUnfenced(sql, [message.ref]),
          ]),
        ),
      )
      ctx.failpoint('carrier.after_take')
      ctx.wakes.wake(topics.phones(line.id))
      return providerId
    },
    untold: (line: Line) => listUntoldPhoneGroups(ctx.db, line.id, UNTOLD_LIMIT),
    told: (chat: PhoneGroup) => savePhoneGroupTold(ctx.db, chat),
    onTheWay: (line: Line, providerId: string) => listOnTheWay(ctx.db, line.id, providerId),
  }
}

/** Shows a change of a chat on the phones in it. */
export async function noteChange(ctx: Platform, sql: Sql, chat: PhoneGroup, actor: string): Promise<void> {
  await insertGroupChange(sql, chat, actor, ctx.clock.now())
  sql.announce(topics.screens, chat.network)
}

export function newChatId(ctx: Platform): string {
  return `chat-${ctx.newId()}`
}

/** A message to a group as one message: delivered when it is on every phone that is on. */
export function asOne(messages: readonly PhoneMessage[]): PhoneMessage | undefined {
  const [first] = messages
  if (!first || messages.length === 1) return first
  const onTheWay = messages.some((message) => message.arrivedAt === null && message.dueAt !== null)
  const arrivals = messages.flatMap((message) => message.arrivedAt ?? [])
  return { ...first, arrivedAt: onTheWay || arrivals.length === 0 ? null : Math.max(...arrivals) }
}
