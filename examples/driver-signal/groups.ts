import { buffer } from 'node:stream/consumers'
import { type DriverHost, type Group, type GroupNews, type LineActions, LineFault } from 'trunkline/driver'
import { type Api, addressOf, type Fields, fieldsOf, listOf, personOf, textOf } from './api.js'

type Actions = Pick<LineActions, 'createGroup' | 'modifyGroup' | 'renameGroup' | 'setGroupPhoto'>
export type Groups = ReturnType<typeof createGroups>

const UNNAMED = 'Group'
const MOST_KNOWN = 1000

/** Signal's groups. The API's id of a group is Trunkline's `chatId`. */
export function createGroups(api: Api, number: string, host: Pick<DriverHost, 'group' | 'media'>) {
  const all = `/v1/groups/${encodeURIComponent(number)}`
  const pathOf = (chatId: string) => `${all}/${encodeURIComponent(chatId)}`
  /** Groups of received messages, by their revision. */
  const known = new Map<string, { revision: unknown; news: GroupNews }>()

  function newsOf({ id, name, members, pending_invites: invited }: Fields): GroupNews {
    const people = [...listOf(members), ...listOf(invited)].filter((person) => person !== number)
    const addresses = new Set(people.flatMap((person) => addressOf(person) ?? []))
    return { chatId: chatIdOf(id), groupId: null, members: [...addresses], name: textOf(name) || null }
  }

  /** Creates the group, unless it exists: the answer to an earlier try may have been lost. */
  async function idOf(group: Group): Promise<string> {
    if (group.chatId) return group.chatId
    const { id: groupId, members, name: title } = group
    const name = title ?? UNNAMED
    const isSame = (news: GroupNews) =>
      news.name === name &&
      news.members.length === members.length &&
      news.members.every((member) => members.includes(member))
    const found = listOf(await api.act('GET', all)).map((entry) => newsOf(fieldsOf(entry)))
    let chatId = found.find(isSame)?.chatId
    if (!chatId) {
      const made = await api.act('POST', all, { name, members: members.map(personOf) })
      chatId = chatIdOf(fieldsOf(made).id)
      if (!chatId) throw new LineFault('unreachable', 'The Signal API created a group without an id')
    }
    await host.group({ chatId, groupId, members, name })
    return chatId
  }

  const actions: Actions = {
    async createGroup({ group }) {
      await idOf(group)
    },
    async modifyGroup({ group, change, number: person }) {
      const path = `${pathOf(await idOf(group))}/members`
      await api.act(change === 'add' ? 'POST' : 'DELETE', path, { members: [personOf(person)] })
    },
    async renameGroup({ group, name }) {
      await api.act('PUT', pathOf(await idOf(group)), { name: name ?? UNNAMED })
    },
    async setGroupPhoto({ group, photoUrl }) {
      if (photoUrl === null)
        throw new LineFault('refused', 'A Signal group keeps its photo. Set another one.')
      const { body } = await host.media(photoUrl, 'image')
      const base64_avatar = (await buffer(body)).toString('base64')
      await api.act('PUT', pathOf(await idOf(group)), { base64_avatar })
    },
  }

  /** The group of a received message. Its members are read once for every revision. */
  async function ofMessage({ groupId, groupName, revision }: Fields, from: string): Promise<GroupNews> {
    const chatId = `group.${Buffer.from(textOf(groupId)).toString('base64')}`
    const last = known.get(chatId)
    if (last?.revision === revision && last) return last.news
    const entry = await api.act('GET', pathOf(chatId)).catch((error) => {
      if ((error as LineFault).code !== 'refused') throw error
      // We are no longer in this group.
      return { name: groupName, members: [from] }
    })
    const news = { ...newsOf(fieldsOf(entry)), chatId }
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(chatId, { revision, news })
    return news
  }

  return { idOf, actions, ofMessage }
}

function chatIdOf(id: unknown): string {
  return /^group\.[\w+/=-]+$/.test(textOf(id)) ? textOf(id) : ''
}
