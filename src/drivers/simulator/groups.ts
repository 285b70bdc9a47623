import { MIN_BEFORE_REMOVAL } from '../../core/group.js'
import type { Line } from '../../core/line.js'
import { LineFault } from '../../core/line-fault.js'
import type { SendResult } from '../../core/outcome.js'
import type { Phone, PhoneGroup } from '../../core/phone-world.js'
import type { DriverHost, Group, GroupNews, LineActions, Outbound } from '../driver.js'

/** The network's group chats, as a line sees them. */
export interface GroupNetwork {
  phone(network: string, number: string): Promise<Phone>
  findChat(line: Line, group: Group): Promise<PhoneGroup | undefined>
  makeChat(line: Line, group: Group): Promise<PhoneGroup>
  chat(id: string): Promise<PhoneGroup | undefined>
  changeChat(
    line: Line,
    id: string,
    change: (chat: PhoneGroup) => Partial<Pick<PhoneGroup, 'members' | 'name' | 'photoUrl'>> | undefined,
  ): Promise<void>
  takeForChat(
    line: Line,
    message: Outbound,
    chat: PhoneGroup,
    phones: string[],
    latencyMs: number,
  ): Promise<string>
  untold(line: Line): Promise<PhoneGroup[]>
  told(chat: PhoneGroup): Promise<void>
  onTheWay(line: Line, providerId: string): Promise<number[]>
}

/**
 * Puts a message to a group on its way. Groups are iMessage only: one member without it and nobody gets it. Who
 * refuses everything is left out, as with people who block a number; the others never know.
 */
export async function takeForGroup(
  network: GroupNetwork,
  line: Line,
  message: Outbound & { group: Group },
  latencyMs: number,
): Promise<string | Extract<SendResult, { outcome: 'refused' }>> {
  const known = await network.findChat(line, message.group)
  const phones = await phonesOf(network, line, known?.members ?? message.group.members)
  const without = phones.find((phone) => !phone.imessage)
  if (without) {
    return {
      outcome: 'refused',
      code: 'sim.group_needs_imessage',
      detail: `Groups are iMessage only, and ${without.number} has no iMessage`,
    }
  }
  const reached = phones.filter((phone) => !phone.refuses).map((phone) => phone.number)
  if (reached.length === 0)
    return { outcome: 'refused', code: 'sim.refused', detail: 'Everyone in the group refuses everything' }
  const chat = known ?? (await network.makeChat(line, message.group))
  return network.takeForChat(line, message, chat, reached, latencyMs)
}

/** What a line can do with groups at once. The phones see it, and the line is told as of any other change. */
export function groupActions(
  network: GroupNetwork,
  line: Line,
): Pick<LineActions, 'createGroup' | 'modifyGroup' | 'renameGroup' | 'setGroupPhoto'> {
  async function chatOf(group: Group): Promise<PhoneGroup> {
    const known = await network.findChat(line, group)
    if (known) return known
    for (const phone of await phonesOf(network, line, group.members)) requireImessage(phone)
    return network.makeChat(line, group)
  }
  return {
    async createGroup({ group }) {
      await chatOf(group)
    },
    async modifyGroup({ group, change, number }) {
      if (change === 'add') requireImessage(await network.phone(line.network, number))
      const { id } = await chatOf(group)
      await network.changeChat(line, id, ({ members }) => {
        if (members.includes(number) === (change === 'add')) return undefined
        if (change === 'add') return { members: [...members, number] }
        if (members.length + 1 < MIN_BEFORE_REMOVAL)
          throw new LineFault('refused', 'The group is too small to remove somebody from it')
        return { members: members.filter((member) => member !== number) }
      })
    },
    async renameGroup({ group, name }) {
      const { id } = await chatOf(group)
      await network.changeChat(line, id, (chat) => (chat.name === name ? undefined : { name }))
    },
    async setGroupPhoto({ group, photoUrl }) {
      const { id } = await chatOf(group)
      await network.changeChat(line, id, (chat) => (chat.photoUrl === photoUrl ? undefined : { photoUrl }))
    },
  }
}

/** Tells the line of chats that were made or changed. One stays news until the line has stored it. */
export async function tellGroups(network: GroupNetwork, line: Line, host: DriverHost): Promise<void> {
  for (const chat of await network.untold(line)) {
    await host.group(newsOf(chat))
    await network.told(chat)
  }
}

export function newsOf(chat: PhoneGroup): GroupNews {
  const { id: chatId, groupId, members, name, photoUrl } = chat
  return { chatId, groupId, members, name, photoUrl }
}

function phonesOf(network: GroupNetwork, line: Line, members: readonly string[]): Promise<Phone[]> {
  return Promise.all(members.map((number) => network.phone(line.network, number)))
}

function requireImessage(phone: Phone): void {
  if (!phone.imessage)
    throw new LineFault('not_imessage', `Groups are iMessage only, and ${phone.number} has no iMessage`)
}
