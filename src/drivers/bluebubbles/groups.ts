import { LineFault } from '../../core/lines/fault.js'
import type { Group, LineActions } from '../contract.js'
import type { DriverHost } from '../host.js'
import { withFaults } from './actions.js'
import type { Chat, Chats } from './chats.js'
import type { Lanes } from './lanes.js'
import { type Call, dataOf, inPath, type Mac } from './mac.js'
import { readChat } from './reading/rows.js'
import { fileName, formOf } from './sending/upload.js'

interface Deps {
  mac: Mac
  chats: Chats
  lanes: Lanes
  host: Pick<DriverHost, 'media'>
}

type GroupActions = Pick<LineActions, 'createGroup' | 'modifyGroup' | 'renameGroup' | 'setGroupPhoto'>

/** The server waits up to 30 s until a change shows. */
const CHANGE_TIMEOUT_MS = 60_000
const PHOTO_TIMEOUT_MS = 5 * 60_000

/**
 * Changes to groups. A group without messages does not exist on the Mac yet: its first message creates it with the
 * members and name of that moment.
 */
export function groupActions({ mac, chats, lanes, host }: Deps): GroupActions {
  async function chatOf(group: Group): Promise<Chat | undefined> {
    if (group.chatId === null) return chats.groupWith(group.members)
    const guid = await chats.group(group.chatId)
    const chat = guid === undefined ? undefined : await chats.read(guid)
    if (!chat) throw new LineFault('not_found', 'This group is no longer on the Mac')
    return chat
  }

  async function change(call: Call): Promise<unknown> {
    await lanes.takeSlot()
    return dataOf(mac, 'The group was not changed', { timeoutMs: CHANGE_TIMEOUT_MS, ...call })
  }

  return withFaults<GroupActions>({
    async createGroup() {},
    async modifyGroup({ group, change: what, number }) {
      const chat = await chatOf(group)
      // The server would wait in vain for a change that is already in effect.
      if (!chat || chat.members.includes(number) === (what === 'add')) return
      await change({
        method: 'POST',
        path: `/chat/${inPath(chat.guid)}/participant/${what}`,
        json: { address: number },
      })
    },
    async renameGroup({ group, name }) {
      const chat = await chatOf(group)
      if (!chat || chat.name === name) return
      const path = `/chat/${inPath(chat.guid)}`
      const data = await change({ method: 'PUT', path, json: { displayName: name ?? '' } })
      if (name === null && readChat(data)?.name)
        throw new LineFault('refused', 'name: this Mac cannot remove the name of a group. Set another name.')
    },
    async setGroupPhoto({ group, photoUrl }) {
      const chat = await chatOf(group)
      if (!chat)
        throw new LineFault(
          'no_chat',
          'This group has no messages yet, so it cannot have a photo. Send a message first.',
        )
      const path = `/chat/${inPath(chat.guid)}/icon`
      if (photoUrl === null) {
        await change({ method: 'DELETE', path })
        return
      }
      const file = await host.media(photoUrl)
      const body = formOf('icon', fileName(photoUrl, file.contentType), file, {})
      await change({ method: 'POST', path, body, timeoutMs: PHOTO_TIMEOUT_MS })
    },
  })
}
