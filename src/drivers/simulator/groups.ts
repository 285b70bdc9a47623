import { MIN_BEFORE_REMOVAL } from '../../core/groups/group.js'
import { LineFault } from '../../core/lines/fault.js'
import type { Line } from '../../core/lines/line.js'
import type { Service } from '../../core/messages/message.js'
import type { SendResult } from '../../core/messages/outcome.js'
import { type Phone, type PhoneGroup, servicesOf } from '../../core/sim/phone.js'
import type { Group, LineActions, Outbound } from '../contract.js'
import type { DriverHost } from '../host.js'
import type { GroupNews } from '../inbound.js'

/** The group chats of the simulated network, as a line sees them. */
export interface GroupNetwork {
  phone(line: Line, accountId: string, number: string): Promise<Phone>
  phonesAt(network: string, email: string): Promise<Phone[]>
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
 * Sends a message to a group. One member without the message's service stops the message for all; by SMS it is a group
 * MMS. Phones that refuse everything are skipped silently, as if they had blocked the number.
 */
export async function takeForGroup(
  network: GroupNetwork,
  line: Line,
  message: Outbound & { group: Group },
  latencyMs: number,
): Promise<string | Extract<SendResult, { outcome: 'refused' }>> {
  const known = await network.findChat(line, message.group)
  const { service, group } = message
  const { phones, without } = await reach(network, line, group, known?.members ?? group.members, service)
  if (without !== undefined)
    return {
      outcome: 'refused',
      code: 'sim.group_no_service',
      detail: service === 'iMessage' ? `${without} has no iMessage` : `${without} cannot receive MMS`,
      tryNextService: true,
    }
  const willing = phones.filter((phone) => !phone.refuses).map((phone) => phone.number)
  if (willing.length === 0)
    return { outcome: 'refused', code: 'sim.refused', detail: 'Every phone in the group refuses everything' }
  const chat = known ?? (await network.makeChat(line, message.group))
  return network.takeForChat(line, message, chat, [...new Set(willing)], latencyMs)
}

/** Group actions of a line. The phones see the change, and the line receives it like any other group change. */
export function groupActions(
  network: GroupNetwork,
  line: Line,
): Pick<LineActions, 'createGroup' | 'modifyGroup' | 'renameGroup' | 'setGroupPhoto'> {
  async function requireIMessage(group: Group, members = group.members): Promise<void> {
    const { without } = await reach(network, line, group, members)
    if (without !== undefined) throw new LineFault('not_imessage', needsIMessage(without))
  }
  /** Groups by MMS have no names, photos or changes of members. */
  async function chatOf(group: Group): Promise<PhoneGroup> {
    const known = await network.findChat(line, group)
    await requireIMessage(group, known?.members)
    return known ?? network.makeChat(line, group)
  }
  return {
    async createGroup({ group }) {
      await chatOf(group)
    },
    async modifyGroup({ group, change, number }) {
      if (change === 'add') await requireIMessage(group, [number])
      const { id } = await chatOf(group)
      await network.changeChat(line, id, ({ members }) => {
        if (members.includes(number) === (change === 'add')) return undefined
        if (change === 'add') return { members: [...members, number] }
        if (members.length + 1 < MIN_BEFORE_REMOVAL)
          throw new LineFault('refused', 'A group of this size cannot lose a member')
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

/** Reports new and changed chats to the line. A chat stays unreported until the line has stored it. */
export async function reportGroups(network: GroupNetwork, line: Line, host: DriverHost): Promise<void> {
  for (const chat of await network.untold(line)) {
    await host.group(newsOf(chat))
    await network.told(chat)
  }
}

export function newsOf(chat: PhoneGroup): GroupNews {
  const { id: chatId, groupId, members, name, photoUrl } = chat
  return { chatId, groupId, members, name, photoUrl }
}

/** The members' phones with this service, and the first member without one. An e-mail address has only iMessage. */
async function reach(
  network: GroupNetwork,
  line: Line,
  { accountId }: Group,
  members: readonly string[],
  service: Service = 'iMessage',
): Promise<{ phones: Phone[]; without: string | undefined }> {
  const found = await Promise.all(
    members.map(async (handle) => {
      if (!handle.includes('@')) {
        const phone = await network.phone(line, accountId, handle)
        return servicesOf(phone).includes(service) ? [phone] : []
      }
      const phones = service === 'iMessage' ? await network.phonesAt(accountId, handle) : []
      return phones.filter((phone) => phone.imessage)
    }),
  )
  return { phones: found.flat(), without: members.find((_, index) => found[index]!.length === 0) }
}

function needsIMessage(handle: string): string {
  return `Names, photos and members of groups are iMessage only, and ${handle} has no iMessage`
}
