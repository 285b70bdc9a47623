import {
  type AttachmentRow,
  type ChatDb,
  type ChatRow,
  columnsOf,
  type HandleRow,
  type MessageRow,
} from './chat-db.js'

/** How much of a message is included: webhooks get less than API responses. */
export interface View {
  notification?: boolean
  /** Chats of a message; false leaves the field out. */
  chats?: boolean
  /** False: rows were read without chats, so the list is empty. */
  withChats?: boolean
  withAttachments?: boolean
  attachmentMetadata?: boolean
  chatParticipants?: boolean
  payloadData?: boolean
  /** Describes HEIC files as JPEG. */
  convertsHeic?: boolean
  osVersion: string
}

const REACTIONS = ['love', 'like', 'dislike', 'laugh', 'emphasize', 'question']
const OBJECT_REPLACEMENT = /\uFFFC/g
const major = (osVersion: string) => Number.parseInt(osVersion, 10)

/** The number of a tapback in Messages. */
export function reactionNumber(reaction: string): number {
  const remove = reaction.startsWith('-')
  const index = REACTIONS.indexOf(remove ? reaction.slice(1) : reaction)
  if (reaction.replace('-', '') === 'emoji') return remove ? 3006 : 2006
  return (remove ? 3000 : 2000) + index
}

/** Unknown numbers become text; the emoji of an emoji tapback is not included. */
export function reactionName(number: number): string | null {
  if (!number) return null
  if (number === 1000) return 'sticker'
  const name = REACTIONS[number % 1000]
  if (name && number >= 2000 && number < 4000) return number >= 3000 ? `-${name}` : name
  return String(number)
}

export function messageView(db: ChatDb, row: MessageRow, view: View): Record<string, unknown> {
  const handle = row.handle_id ? db.byId('handle', row.handle_id as number) : undefined
  const attachments = view.withAttachments === false ? [] : attachmentsOf(db, row.ROWID)
  const essentials = {
    originalROWID: row.ROWID,
    guid: row.guid,
    text: row.text === null ? null : String(row.text).replace(OBJECT_REPLACEMENT, '').trim(),
    attributedBody: null,
    handle: handle ? handleView(handle, view.notification) : null,
    handleId: row.handle_id,
    otherHandle: row.other_handle,
    attachments: attachments.map((item) => attachmentView(item, view)),
    subject: row.subject,
    error: row.error,
    dateCreated: row.date,
    dateRead: row.date_read,
    dateDelivered: row.date_delivered,
    isDelivered: Boolean(row.is_delivered),
    isFromMe: Boolean(row.is_from_me),
    hasDdResults: Boolean(row.has_dd_results),
    isArchived: Boolean(row.is_archive),
    itemType: row.item_type,
    groupTitle: row.group_title,
    groupActionType: row.group_action_type,
    balloonBundleId: row.balloon_bundle_id,
    associatedMessageGuid: row.associated_message_guid,
    associatedMessageType: reactionName(row.associated_message_type as number),
    expressiveSendStyleId: row.expressive_send_style_id,
    threadOriginatorGuid: row.thread_originator_guid,
    hasPayloadData: row.payload_data !== null,
  }
  const chats = view.withChats === false ? [] : chatsOf(db, row.ROWID)
  return {
    ...essentials,
    ...(!view.notification && extras(row, view)),
    ...(view.chats !== false && { chats: chats.map((chat) => chatOfMessage(db, chat, view)) }),
    messageSummaryInfo: null,
    payloadData: view.payloadData && row.payload_data ? JSON.parse(String(row.payload_data)) : null,
    ...(major(view.osVersion) >= 13 && {
      dateEdited: row.date_edited,
      dateRetracted: row.date_retracted,
      partCount: row.part_count,
    }),
  }
}

/** Fields that webhooks omit. */
function extras(row: MessageRow, { osVersion }: View) {
  return {
    country: row.country,
    isDelayed: Boolean(row.is_delayed),
    isAutoReply: Boolean(row.is_auto_reply),
    isSystemMessage: Boolean(row.is_system_message),
    isServiceMessage: Boolean(row.is_service_message),
    isForward: Boolean(row.is_forward),
    threadOriginatorPart: row.thread_originator_part,
    isCorrupt: Boolean(row.is_corrupt),
    datePlayed: row.date_played,
    cacheRoomnames: row.cache_roomnames,
    isSpam: Boolean(row.is_spam),
    isExpired: Boolean(row.is_expirable),
    timeExpressiveSendStyleId: null,
    isAudioMessage: Boolean(row.is_audio_message),
    replyToGuid: row.reply_to_guid,
    shareStatus: row.share_status,
    shareDirection: row.share_direction,
    ...(major(osVersion) >= 12 && {
      wasDeliveredQuietly: Boolean(row.was_delivered_quietly),
      didNotifyRecipient: Boolean(row.did_notify_recipient),
    }),
  }
}

export function chatView(
  db: ChatDb,
  chat: ChatRow,
  options: { notification?: boolean; participants?: boolean } = {},
) {
  return {
    originalROWID: chat.ROWID,
    guid: chat.guid,
    style: chat.style,
    chatIdentifier: chat.chat_identifier,
    isArchived: Boolean(chat.is_archived),
    displayName: chat.display_name,
    ...(options.participants !== undefined && {
      participants: options.participants
        ? participantsOf(db, chat.ROWID).map((item) => handleView(item))
        : [],
    }),
    ...(!options.notification && {
      isFiltered: Boolean(chat.is_filtered),
      groupId: chat.group_id,
      properties: chat.properties ? JSON.parse(String(chat.properties)) : null,
      lastAddressedHandle: chat.last_addressed_handle,
    }),
  }
}

/** A message's chat has participants only for groups, and only on request. */
function chatOfMessage(db: ChatDb, chat: ChatRow, view: View) {
  const wanted = view.chatParticipants && chat.style === 43
  return chatView(db, chat, { notification: view.notification, ...(wanted && { participants: true }) })
}

export function handleView(row: HandleRow, notification = false) {
  const short = { originalROWID: row.ROWID, address: row.id, service: row.service }
  return notification ? short : { ...short, uncanonicalizedId: row.uncanonicalized_id, country: row.country }
}

export function attachmentView(
  row: AttachmentRow,
  view: Pick<View, 'notification' | 'attachmentMetadata' | 'convertsHeic'>,
) {
  const withMetadata = view.notification || view.attachmentMetadata !== false
  const converted = view.convertsHeic && row.mime_type === 'image/heic'
  return {
    originalROWID: row.ROWID,
    guid: row.guid,
    uti: row.uti,
    mimeType: converted ? 'image/jpeg' : row.mime_type,
    transferName: converted ? `${row.transfer_name}.jpeg` : row.transfer_name,
    totalBytes: row.total_bytes,
    ...(!view.notification && {
      transferState: row.transfer_state,
      isOutgoing: Boolean(row.is_outgoing),
      hideAttachment: Boolean(row.hide_attachment),
      isSticker: Boolean(row.is_sticker),
      originalGuid: row.original_guid,
      hasLivePhoto: false,
    }),
    ...(withMetadata && {
      height: row.height,
      width: row.width,
      metadata: { height: row.height, width: row.width },
    }),
  }
}

export const chatsOf = (db: ChatDb, messageId: number) =>
  db.all<ChatRow>(
    `select ${columnsOf('chat')} from chat join chat_message_join link on link.chat_id = chat.ROWID where link.message_id = ?`,
    messageId,
  )

export const attachmentsOf = (db: ChatDb, messageId: number) =>
  db.all<AttachmentRow>(
    `select ${columnsOf('attachment')} from attachment join message_attachment_join link on link.attachment_id = attachment.ROWID where link.message_id = ? order by attachment.ROWID`,
    messageId,
  )

export const participantsOf = (db: ChatDb, chatId: number) =>
  db.all<HandleRow>(
    `select ${columnsOf('handle')} from handle join chat_handle_join link on link.handle_id = handle.ROWID where link.chat_id = ? order by link.rowid`,
    chatId,
  )
