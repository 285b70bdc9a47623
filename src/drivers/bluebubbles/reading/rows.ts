import { type Fields, fieldsOf, flagOf, listOf, momentOf, textOf, wholeOf } from '../../../core/fields.js'
import type { Service } from '../../../core/messages/message.js'
import { toE164 } from '../../../core/phone-number.js'

/** A message in the Mac's database. */
export interface Row {
  rowId: number | null
  guid: string
  text: string
  isFromMe: boolean
  /** The sender; for our own messages in a chat of two, the recipient. */
  handle: string | null
  handleService: Service | null
  /** 0 for messages; other values are group changes. */
  itemType: number
  error: number
  sentAt: number | null
  deliveredAt: number | null
  isDelivered: boolean
  readAt: number | null
  isRetracted: boolean
  partCount: number
  attachments: Attachment[]
  chat: ChatRef | null
  balloon: string
  effect: string
  /** The message that a tapback or sticker refers to. */
  about: { guid: string; part: number; type: string } | null
  thread: { guid: string; part: number } | null
}

export interface Attachment {
  guid: string
  name: string
  mimeType: string
}

export interface ChatRef {
  guid: string
  isGroup: boolean
  name: string | null
}

const ID = /^[\x21-\x7e]{1,200}$/
const MAX_ATTACHMENTS = 100

/** Undefined if the value is not a message. */
export function readRow(value: unknown): Row | undefined {
  const row = fieldsOf(value)
  const isFromMe = flagOf(row.isFromMe)
  if (!isId(row.guid) || isFromMe === undefined) return undefined
  const handle = fieldsOf(row.handle)
  const rowId = wholeOf(row.originalROWID)
  const text = textIn(row)
  const subject = textOf(row.subject).trim()
  return {
    rowId: rowId !== undefined && rowId > 0 ? rowId : null,
    guid: row.guid,
    text: subject ? `${subject}\n${text}`.trim() : text,
    isFromMe,
    handle: addressOf(handle.address) ?? null,
    handleService: serviceOf(handle.service),
    itemType: wholeOf(row.itemType) ?? 0,
    error: wholeOf(row.error) ?? 0,
    sentAt: momentOf(row.dateCreated),
    deliveredAt: momentOf(row.dateDelivered),
    isDelivered: flagOf(row.isDelivered) === true || momentOf(row.dateDelivered) !== null,
    readAt: momentOf(row.dateRead),
    isRetracted: momentOf(row.dateRetracted) !== null,
    partCount: wholeOf(row.partCount) ?? 0,
    attachments: attachmentsIn(row),
    chat: listOf(row.chats).map(readChat).find(Boolean) ?? null,
    balloon: textOf(row.balloonBundleId),
    effect: textOf(row.expressiveSendStyleId),
    about: aboutOf(row),
    thread: isId(row.threadOriginatorGuid)
      ? { guid: row.threadOriginatorGuid, part: partOf(textOf(row.threadOriginatorPart)) }
      : null,
  }
}

/** Newer macOS versions may store the text only in the attributed body. */
function textIn(row: Fields): string {
  const plain = textOf(row.text) || textOf(fieldsOf(listOf(row.attributedBody)[0]).string)
  return plain.replaceAll('\ufffc', '').trim()
}

function aboutOf(row: Fields): Row['about'] {
  const given = textOf(row.associatedMessageGuid)
  const type = row.associatedMessageType
  const match = /^(?:p:(\d{1,4})\/|bp:)?([\x21-\x7e]{1,200})$/.exec(given)
  if (!match || type === null || type === undefined || type === 0 || type === '0') return null
  return { part: Number(match[1] ?? 0), guid: match[2]!, type: String(type) }
}

/** `1:0:12` means part 1, from character 0. */
function partOf(text: string): number {
  return Number(/^(\d{1,4})(?::|$)/.exec(text)?.[1] ?? 0)
}

/** Sorted by row id, so that the order is stable. Skips files that belong to the preview of a link or card. */
function attachmentsIn(row: Fields): Attachment[] {
  return listOf(row.attachments)
    .slice(0, MAX_ATTACHMENTS)
    .map(fieldsOf)
    .sort((a, b) => (wholeOf(a.originalROWID) ?? 0) - (wholeOf(b.originalROWID) ?? 0))
    .flatMap(({ guid, transferName, mimeType, hideAttachment }) => {
      const name = textOf(transferName)
      const isHidden = flagOf(hideAttachment) === true || name.endsWith('.pluginPayloadAttachment')
      return isId(guid) && !isHidden ? [{ guid, name, mimeType: textOf(mimeType) }] : []
    })
}

export function readChat(value: unknown): ChatRef | undefined {
  const { guid, style, displayName } = fieldsOf(value)
  if (!isId(guid)) return undefined
  return { guid, isGroup: style === 43 || guid.includes(';+;'), name: textOf(displayName) || null }
}

/** E.164 number or lower-case e-mail address; a short code stays unchanged. */
export function addressOf(value: unknown): string | undefined {
  const text = textOf(value).trim()
  if (text === '' || text.length > 254) return undefined
  return text.includes('@') ? text.toLowerCase() : (toE164(text) ?? text)
}

export function serviceOf(value: unknown): Service | null {
  return value === 'iMessage' || value === 'SMS' || value === 'RCS' ? value : null
}

/** The service in a chat id's prefix; null for `any` and unknown prefixes. */
export function serviceOfChat(guid: string): Service | null {
  return serviceOf(guid.split(';', 1)[0])
}

/** Apple's identifier of a chat, without the prefix, which a new macOS version may change. */
export function identifierOf(chatGuid: string): string {
  return chatGuid.slice(chatGuid.lastIndexOf(';') + 1)
}

export function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value)
}
