import type { BlueBubbles } from '../../peers/bluebubbles/bluebubbles.js'
import { ask } from './bluebubbles.js'

export const ALICE = '+15550111111'
export const BOB = '+15550122222'
export const CAROL = '+15550133333'
export const PA = 'private-api'
export const chatOf = (address: string) => `iMessage;-;${address}`
export const at = (guid: string) => encodeURIComponent(guid)

/** All fields of a message and of a chat in API responses, no more and no fewer. */
export const FULL =
  `originalROWID guid text attributedBody handle handleId otherHandle attachments subject error dateCreated
  dateRead dateDelivered isDelivered isFromMe hasDdResults isArchived itemType groupTitle groupActionType
  balloonBundleId associatedMessageGuid associatedMessageType expressiveSendStyleId threadOriginatorGuid
  hasPayloadData country isDelayed isAutoReply isSystemMessage isServiceMessage isForward threadOriginatorPart
  isCorrupt datePlayed cacheRoomnames isSpam isExpired timeExpressiveSendStyleId isAudioMessage replyToGuid
  shareStatus shareDirection wasDeliveredQuietly didNotifyRecipient chats messageSummaryInfo payloadData dateEdited
  dateRetracted partCount`.split(/\s+/)
export const CHAT =
  `originalROWID guid style chatIdentifier isArchived displayName isFiltered groupId properties
  lastAddressedHandle`.split(/\s+/)
export const keys = (value: object) => Object.keys(value).sort()

/** Sends a first text, which creates the chat; returns the message's guid. */
export async function contact(mac: BlueBubbles, address = ALICE): Promise<string> {
  const made = await ask(mac, 'POST chat/new', { addresses: [address], message: 'Hi', method: PA })
  return made.body.data.messages[0].guid
}

export const text = (mac: BlueBubbles, message: string, more: object = {}) =>
  ask(mac, 'POST message/text', { chatGuid: chatOf(ALICE), message, method: PA, ...more })
