import { type ChatRow, type HandleRow, type MessageRow, newGuid } from '../chat-db.js'
import { badRequest, iMessageError, notFound, type Reply } from '../envelope.js'
import { linkMessage, never } from '../messages-app.js'
import { chatView, participantsOf } from '../projections.js'
import { type Ask, helperTrouble, type Mac, now, type Route, wait } from '../state.js'
import { normalise, requireChat } from './chats.js'
import { validate } from './rules.js'

export const groupRoutes: Route[] = [
  { method: 'PUT', path: 'chat/:guid', handle: rename },
  { method: 'DELETE', path: 'chat/:guid', privateApi: true, handle: remove },
  { method: 'POST', path: 'chat/:guid/leave', privateApi: true, handle: leave },
  {
    method: 'POST',
    path: 'chat/:guid/participant',
    privateApi: true,
    handle: (mac, ask) => toggle(mac, ask, 'add'),
  },
  {
    method: 'POST',
    path: 'chat/:guid/participant/add',
    privateApi: true,
    handle: (mac, ask) => toggle(mac, ask, 'add'),
  },
  {
    method: 'DELETE',
    path: 'chat/:guid/participant',
    privateApi: true,
    handle: (mac, ask) => toggle(mac, ask, 'remove'),
  },
  {
    method: 'POST',
    path: 'chat/:guid/participant/remove',
    privateApi: true,
    handle: (mac, ask) => toggle(mac, ask, 'remove'),
  },
  { method: 'GET', path: 'chat/:guid/icon', handle: icon },
  { method: 'POST', path: 'chat/:guid/icon', privateApi: true, handle: setIcon },
  { method: 'DELETE', path: 'chat/:guid/icon', privateApi: true, handle: (mac, ask) => clearIcon(mac, ask) },
]

const ADDED = { item_type: 1, group_action_type: 0 }
const REMOVED = { item_type: 1, group_action_type: 1 }
const LEFT = { item_type: 3, group_action_type: 0 }
const ICON_SET = { item_type: 3, group_action_type: 1 }
const ICON_CLEARED = { item_type: 3, group_action_type: 2 }

/** Who made the change; null: this Mac. */
type Actor = HandleRow | null

/** Writes a group change, which is a row among the messages. */
function note(mac: Mac, chat: ChatRow, doer: Actor, row: Partial<MessageRow>) {
  const inserted = mac.db.insert('message', {
    guid: newGuid(),
    service: 'iMessage',
    date: now(mac),
    handle_id: doer?.ROWID ?? 0,
    is_from_me: doer ? 0 : 1,
    is_sent: 1,
    cache_roomnames: chat.chat_identifier,
    ...row,
  })
  linkMessage(mac, inserted, chat)
  mac.events.changed()
}

export function renameGroup(mac: Mac, chat: ChatRow, name: string, doer: Actor) {
  mac.db.update('chat', chat.ROWID, { display_name: name })
  note(mac, chat, doer, { item_type: 2, group_title: name })
}

export function addMember(mac: Mac, chat: ChatRow, address: string, doer: Actor) {
  const handle = mac.db.handle(address, 'iMessage')
  mac.db.run('insert or ignore into chat_handle_join values (?, ?)', chat.ROWID, handle.ROWID)
  note(mac, chat, doer, { ...ADDED, other_handle: handle.ROWID })
}

export function removeMember(mac: Mac, chat: ChatRow, address: string, doer: Actor) {
  const handle = mac.db.handle(address, 'iMessage')
  mac.db.run('delete from chat_handle_join where chat_id = ? and handle_id = ?', chat.ROWID, handle.ROWID)
  const left = doer?.ROWID === handle.ROWID
  note(mac, chat, doer, left ? LEFT : { ...REMOVED, other_handle: handle.ROWID })
}

export function setGroupIcon(mac: Mac, chat: ChatRow, bytes: Buffer | null, doer: Actor) {
  const guid = newGuid()
  if (bytes) {
    mac.db.files.set(guid, { name: 'icon.jpg', bytes, mimeType: 'image/jpeg', onDisk: true })
    mac.db.insert('attachment', {
      guid,
      mime_type: 'image/jpeg',
      transfer_name: 'icon.jpg',
      total_bytes: bytes.length,
    })
  }
  mac.db.update('chat', chat.ROWID, { properties: bytes ? JSON.stringify([{ groupPhotoGuid: guid }]) : null })
  note(mac, chat, doer, bytes ? ICON_SET : ICON_CLEARED)
}

const members = (mac: Mac, chat: ChatRow) => participantsOf(mac.db, chat.ROWID)

async function rename(mac: Mac, { params, fields }: Ask): Promise<Reply> {
  const { displayName } = validate(fields, { displayName: 'string|min:1' }) as { displayName?: string }
  const chat = requireChat(mac, params.guid)
  const shown = (participants: boolean) => chatView(mac.db, mac.db.chat(chat.guid)!, { participants })
  if (!displayName) return { message: 'Chat not updated! No update information provided!', data: shown(true) }
  if (members(mac, chat).length <= 1)
    throw iMessageError('Cannot rename a non-group chat!', 'Chat is not a group')
  const done = { message: 'Successfully updated the following fields: displayName' }
  if (chat.display_name === displayName) return { ...done, data: shown(true) }
  const failed = (detail: string) => iMessageError('Chat update executed with errors!', detail)
  const trouble = helperTrouble(mac)
  if (trouble) throw failed(trouble)
  if (!mac.flags.helperConnected)
    await never(mac).catch((error: Error) => Promise.reject(failed(error.message)))
  if (mac.flags.groupsStuck) {
    await wait(mac, mac.waits.change)
    throw failed('Failed to set new display name! Operation took longer than 30 seconds!')
  }
  renameGroup(mac, chat, displayName, null)
  // The second read omits the participants.
  return { ...done, data: shown(false) }
}

/** Waits until the number of participants changes, so it times out if the change is already in effect. */
async function toggle(mac: Mac, { params, fields }: Ask, action: 'add' | 'remove'): Promise<Reply> {
  const asked = validate(fields, { address: 'required|string' })
  const chat = requireChat(mac, params.guid)
  const before = members(mac, chat)
  if (before.length === 1) throw new Error('Chat is not a group chat!')
  if (!mac.flags.helperConnected) return never(mac)
  const address = normalise(asked.address as string)
  const isMember = before.some(({ id }) => id === address)
  const possible = action === 'add' ? !isMember && mac.people.of(address).imessage : isMember
  if (!possible || mac.flags.groupsStuck) {
    await wait(mac, mac.waits.change)
    throw new Error(`Failed to ${action} participant to chat! Operation took longer than 5 seconds!`)
  }
  if (action === 'add') addMember(mac, chat, address, null)
  else removeMember(mac, chat, address, null)
  return { data: chatView(mac.db, mac.db.chat(chat.guid)!, { participants: true }) }
}

function icon(mac: Mac, { params }: Ask): Reply {
  const chat = requireChat(mac, params.guid)
  const [properties] = JSON.parse(String(chat.properties ?? '[]')) as { groupPhotoGuid: string }[]
  const file = properties && mac.db.files.get(properties.groupPhotoGuid)
  if (!file) throw notFound('Unable to find icon for the selected chat')
  return { file: { bytes: file.bytes, mimeType: file.mimeType, name: file.name } }
}

function requireGroup(mac: Mac, guid: string | undefined): ChatRow {
  const chat = requireChat(mac, guid)
  if (members(mac, chat).length === 1) throw new Error('Chat is not a group chat!')
  return chat
}

function setIcon(mac: Mac, { params, files }: Ask): Reply {
  if (!files.icon?.bytes.length) throw badRequest('Icon not provided or was empty!')
  setGroupIcon(mac, requireGroup(mac, params.guid), files.icon.bytes, null)
  return { message: 'Successfully set group chat icon!' }
}

function clearIcon(mac: Mac, { params }: Ask): Reply {
  setGroupIcon(mac, requireGroup(mac, params.guid), null, null)
  return { message: 'Successfully removed group chat icon!' }
}

function leave(mac: Mac, { params }: Ask): Reply {
  const chat = mac.db.chat(params.guid!)
  if (!chat) throw new Error(`Failed to leave chat! Chat not found. (GUID: ${params.guid})`)
  note(mac, chat, null, LEFT)
  return { message: 'Successfully left chat!' }
}

function remove(mac: Mac, { params }: Ask): Reply {
  const chat = mac.db.chat(params.guid!)
  if (!chat) throw new Error(`Failed to delete chat! Chat not found. (GUID: ${params.guid})`)
  mac.db.run('delete from chat_message_join where chat_id = ?', chat.ROWID)
  mac.db.run('delete from chat_handle_join where chat_id = ?', chat.ROWID)
  mac.db.run('delete from chat where ROWID = ?', chat.ROWID)
  return { message: 'Successfully deleted chat!' }
}
