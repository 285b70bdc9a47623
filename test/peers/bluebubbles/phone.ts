import { type ChatRow, type File, type MessageRow, newGuid, type Service } from './chat-db.js'
import { addFile, linkMessage, tapbackText } from './messages-app.js'
import type { Person, Plan } from './people.js'
import { reactionNumber } from './projections.js'
import { hangUp, ring } from './routes/calls.js'
import { openChat } from './routes/chats.js'
import type { FriendLocation } from './routes/extras.js'
import { addMember, removeMember, renameGroup, setGroupIcon } from './routes/groups.js'
import { type Mac, now } from './state.js'

/** On the Mac's disk by default. */
export type SentFile = Omit<File, 'onDisk'> & { onDisk?: boolean }

export interface TextOptions {
  /** Id of the iMessage effect. */
  effect?: string
  replyTo?: string
  replyPart?: number
  attachment?: SentFile
  attachments?: SentFile[]
  /** Guid of a group chat. */
  group?: string
  service?: Service
  /** Send time, which may be long before arrival. */
  sentAt?: number
  subject?: string
  audio?: boolean
  /** App of the card, and its payload. */
  balloon?: { bundleId: string; payload?: unknown }
}

export const FIND_MY_BALLOON =
  'com.apple.messages.MSMessageExtensionBalloonPlugin:0000000000:com.apple.findmy.FindMyMessagesApp'

/** A person's phone: its messages, and actions of the person. */
export type Phone = ReturnType<typeof createPhone>

export function createPhone(mac: Mac, person: Person) {
  const chatFor = (group: string | undefined, service: Service): ChatRow =>
    group ? mac.db.chat(group)! : openChat(mac, [person.address], service)

  const handle = () => mac.db.handle(person.address, 'iMessage')

  function arrive(chat: ChatRow, service: Service, row: Partial<MessageRow>): MessageRow {
    const inserted = mac.db.insert('message', {
      guid: newGuid(),
      service,
      handle_id: mac.db.handle(person.address, service).ROWID,
      date: now(mac),
      is_sent: 1,
      destination_caller_id: mac.account.activeAlias,
      cache_roomnames: chat.style === 43 ? chat.chat_identifier : null,
      ...row,
    })
    linkMessage(mac, inserted, chat)
    mac.events.changed()
    return inserted
  }

  /** Changes a row from outside of the server. */
  function change(guid: string, changes: Partial<MessageRow>) {
    const row = mac.db.message(guid)
    if (!row) throw new Error('No such message')
    mac.db.update('message', row.ROWID, changes)
    mac.events.changed()
  }

  return {
    /** The person's settings and received messages. */
    person,
    address: person.address,
    inbox: person.inbox,
    texts: () => person.inbox.map(({ text }) => text),
    /** Sets the plan for every message from now on. */
    always(plan: Plan) {
      person.always = plan
      return this
    },
    /** Sets the plans for the next messages, one each. */
    next(...plans: Plan[]) {
      person.next.push(...plans)
      return this
    },
    /** Sends a text; returns its guid. */
    text(text: string, options: TextOptions = {}): string {
      const service = options.service ?? 'iMessage'
      const chat = chatFor(options.group, service)
      const parent = options.replyTo ? mac.db.message(options.replyTo) : undefined
      const files = [...(options.attachments ?? []), ...(options.attachment ? [options.attachment] : [])]
      const row = arrive(chat, service, {
        text: `${'\uFFFC'.repeat(files.length)}${text}`,
        subject: options.subject ?? null,
        ...(options.sentAt !== undefined && { date: options.sentAt }),
        expressive_send_style_id: options.effect ?? null,
        is_audio_message: options.audio ? 1 : 0,
        thread_originator_guid: parent ? (parent.thread_originator_guid ?? parent.guid) : null,
        thread_originator_part: parent
          ? `${options.replyPart ?? 0}:0:${String(parent.text ?? '').length}`
          : null,
        reply_to_guid: parent?.guid ?? null,
        balloon_bundle_id: options.balloon?.bundleId ?? null,
        payload_data: options.balloon?.payload ? JSON.stringify(options.balloon.payload) : null,
        part_count: Math.max(1, files.length + (text ? 1 : 0)),
      })
      for (const file of files) addFile(mac, row, { onDisk: true, ...file }, false)
      return row.guid
    },
    tapback(
      guid: string,
      reaction: string,
      options: { part?: number; remove?: boolean; emoji?: string; group?: string } = {},
    ) {
      const name = options.remove ? `-${reaction}` : reaction
      const row = arrive(chatFor(options.group, 'iMessage'), 'iMessage', {
        text: tapbackText(mac, { guid, reaction: name }),
        associated_message_guid: `p:${options.part ?? 0}/${guid}`,
        associated_message_type: reactionNumber(name),
        associated_message_emoji: options.emoji ?? null,
      })
      return row.guid
    },
    typing(display: boolean, options: { group?: string } = {}) {
      mac.events.typing(chatFor(options.group, 'iMessage').guid, display)
    },
    /** Marks one message of ours as read, or all that arrived. */
    read(guid?: string) {
      const guids = guid ? [guid] : person.inbox.filter(({ group }) => !group).map((item) => item.guid)
      for (const one of guids)
        if (!mac.db.message(one)?.date_read) change(one, { is_read: 1, date_read: now(mac) })
    },
    edit: (guid: string, text: string) => change(guid, { text, date_edited: now(mac) }),
    unsend: (guid: string) => change(guid, { text: '', date_edited: now(mac), date_retracted: now(mac) }),
    rename: (group: string, name: string) => renameGroup(mac, mac.db.chat(group)!, name, handle()),
    add: (group: string, address: string) => addMember(mac, mac.db.chat(group)!, address, handle()),
    remove: (group: string, address: string) => removeMember(mac, mac.db.chat(group)!, address, handle()),
    leave: (group: string) => removeMember(mac, mac.db.chat(group)!, person.address, handle()),
    setIcon: (group: string, bytes: Buffer | null) => setGroupIcon(mac, mac.db.chat(group)!, bytes, handle()),
    /** Starts a group with us and others; returns its guid. */
    startGroup(others: readonly string[], options: { name?: string; text?: string } = {}): string {
      const chat = openChat(mac, [person.address, ...others], 'iMessage', options.name ?? '')
      arrive(chat, 'iMessage', { text: options.text ?? 'Hello, all' })
      return chat.guid
    },
    /** Shares a location; servers that follow Find My report it at once. */
    shareLocation(place: Partial<FriendLocation> = {}) {
      const shared: FriendLocation = {
        handle: person.address,
        coordinates: [0, 0],
        long_address: null,
        short_address: null,
        title: null,
        subtitle: null,
        last_updated: now(mac),
        is_locating_in_progress: 0,
        status: 'legacy',
        ...place,
      }
      mac.sharePlace(shared)
    },
    stopSharingLocation: () => mac.unsharePlace(person.address),
    /** Sends a location message, which does not contain the location itself. */
    sendLocation(): string {
      return this.text('', { balloon: { bundleId: FIND_MY_BALLOON, payload: {} } })
    },
    /** Calls the Mac; returns the call's uuid. */
    call: (followed = false) => ring(mac, person.address, followed),
    hangUp: (uuid: string) => hangUp(mac, uuid),
  }
}
