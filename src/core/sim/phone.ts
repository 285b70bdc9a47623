import type { MessageExtra } from '../messages/extra.js'
import type { Service } from '../messages/message.js'

/** A virtual phone: the person on the other side of a simulated line. */
export interface Phone {
  /** Id of the account that it belongs to: every account has a network of phones of its own. */
  network: string
  number: string
  name: string
  imessage: boolean
  rcs: boolean
  power: boolean
  /** Whether reading is reported to the sender. */
  readReceipts: boolean
  /** Whether the phone refuses every message. */
  refuses: boolean
  /** An e-mail address that also reaches the phone by iMessage. */
  email: string | null
  /** Auto-reply to every direct message; null is off. */
  autoReply: string | null
  createdAt: number
}

export function servicesOf(phone: Pick<Phone, 'imessage' | 'rcs'>): Service[] {
  const services: Service[] = ['SMS']
  if (phone.rcs) services.unshift('RCS')
  if (phone.imessage) services.unshift('iMessage')
  return services
}

/** The phone that is created when an unknown number receives its first message. */
export function defaultPhone(network: string, number: string, now: number): Phone {
  return {
    network,
    number,
    name: '',
    imessage: true,
    rcs: false,
    power: true,
    readReceipts: true,
    refuses: false,
    email: null,
    autoReply: null,
    createdAt: now,
  }
}

/** A message on a phone, in either direction. */
export interface PhoneMessage {
  id: number
  /** Id of the account that the phone belongs to. */
  network: string
  phone: string
  lineId: string
  lineNumber: string
  fromPhone: boolean
  providerId: string
  ref: string | null
  handle: string | null
  content: string
  mediaUrl: string
  sendStyle: string
  replyTo: string | null
  /** The part that the reply refers to, if given. */
  replyToPart: number | null
  extra: MessageExtra | null
  /** The group chat of the message; null in a direct conversation. */
  chatId: string | null
  /** The sender, if it is another phone of the group, or the e-mail address by which this phone is in the group. */
  sender: string | null
  service: Service
  createdAt: number
  /** When the message reached the phone, or, from the phone, the line. */
  arrivedAt: number | null
  readAt: number | null
  /** When the network delivers the message; null after arrival and while the phone is off. */
  dueAt: number | null
}

/** A group chat on the virtual phones. */
export interface PhoneGroup {
  /** The network's id. */
  id: string
  network: string
  /** The account whose world the chat belongs to. */
  accountId: string
  lineId: string
  lineNumber: string
  /** The group that the line created the chat for; null if a phone started the chat. */
  groupId: string | null
  name: string | null
  photoUrl: string | null
  /** The phones in the chat, without the line. */
  members: readonly string[]
  createdAt: number
  /** Grows with every change. The line receives every version. */
  version: number
}

/** The state of a chat after a change, and who made the change. */
export interface PhoneGroupChange {
  chatId: string
  version: number
  /** Handle of a phone in the chat, or the line's number. */
  actor: string
  name: string | null
  photoUrl: string | null
  members: readonly string[]
  at: number
}

/** A tapback on a message, by a phone or by a line. */
export interface PhoneReaction {
  /** The network's id of the message. */
  providerId: string
  partIndex: number
  /** Number of the person who reacted. */
  by: string
  /** One of the six names, or an emoji. */
  reaction: string
  at: number
}
