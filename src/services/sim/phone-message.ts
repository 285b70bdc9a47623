import type { MessageExtra } from '../../core/messages/extra.js'
import type { Outbound } from '../../drivers/contract.js'
import type { NewPhoneMessage } from '../../storage/sim/messages.js'

export interface PhoneText {
  to: string
  content: string
  mediaUrl: string
  replyTo: string | null
  /** The part of the message that is meant. */
  replyToPart?: number | null
  /** An effect, which only iMessage supports. */
  sendStyle?: string
  /** For a tapback, a card or a location. */
  extra?: MessageExtra
}

const UNREAD = { arrivedAt: null, readAt: null }

/** A message from a line to a phone. */
export function messageToPhone(
  line: { id: string; number: string },
  { accountId, ref, handle, content, mediaUrl, sendStyle, replyTo, extra, service }: Outbound,
  to: Pick<NewPhoneMessage, 'phone' | 'providerId' | 'chatId' | 'createdAt' | 'dueAt'>,
): NewPhoneMessage {
  return {
    ...{ network: accountId, lineId: line.id, lineNumber: line.number, fromPhone: false, sender: null },
    ...{ ref, handle, content, mediaUrl, sendStyle, extra, service },
    replyTo: replyTo?.providerId ?? null,
    replyToPart: null,
    ...to,
    ...UNREAD,
  }
}

/** A message from a phone to a line. */
export function messageFromPhone(
  { content, mediaUrl, replyTo, replyToPart, sendStyle, extra }: Omit<PhoneText, 'to'>,
  from: Pick<
    NewPhoneMessage,
    | 'network'
    | 'phone'
    | 'lineId'
    | 'lineNumber'
    | 'providerId'
    | 'chatId'
    | 'sender'
    | 'service'
    | 'createdAt'
  >,
): NewPhoneMessage {
  return {
    ...{ fromPhone: true, ref: null, handle: null, content, mediaUrl, replyTo },
    replyToPart: replyToPart ?? null,
    sendStyle: sendStyle ?? '',
    extra: extra ?? null,
    ...from,
    dueAt: from.createdAt,
    ...UNREAD,
  }
}
