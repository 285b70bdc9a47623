import type { MessageExtra } from '../messages/extra.js'
import type { Service } from '../messages/message.js'

/** A virtual phone: the person on the other side of a simulated line. */
export interface Phone {
  network: string
  number: string
  name: string
  imessage: boolean
  rcs: boolean
  power: boolean
  /** Whether reading is reported to the sender. */
  readReceipts: boolean
  /** Refuses everything sent to it. */
  refuses: boolean
  /** An address its owner can be reached at by iMessage, too. */
  email: string | null
  /** What it answers by itself to everything that is sent to it alone; null: nothing. */
  autoReply: string | null
  /** The account that made it; null: it was there because somebody wrote to it. */
  accountId: string | null
  createdAt: number
}

export function servicesOf(phone: Pick<Phone, 'imessage' | 'rcs'>): Service[] {
  const services: Service[] = ['SMS']
  if (phone.rcs) services.unshift('RCS')
  if (phone.imessage) services.unshift('iMessage')
  return services
}

/** What an unknown number turns out to be when it is first written to. */
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
    accountId: null,
    createdAt: now,
  }
}

/** A message as the phone has it, in either direction. */
export interface PhoneMessage {
  id: number
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
  /** The part of it that is meant, when the reply says so. */
  replyToPart?: number | null
  extra: MessageExtra | null
  /** The group chat it is in. */
  chatId: string | null
  /** Who wrote it, when that was another phone of the group, or the e-mail address that this one is in it by. */
  sender: string | null
  service: Service
  createdAt: number
  /** On the phone's screen, or, from the phone, at the line. */
  arrivedAt: number | null
  readAt: number | null
  /** When the network has to carry it on; null when it is there, or while the phone is off. */
  dueAt: number | null
}

/** A group chat as the phones in it have it. */
export interface PhoneGroup {
  /** The network's id. */
  id: string
  network: string
  /** Whose world it is looked at from. */
  accountId: string
  lineId: string
  lineNumber: string
  /** The group the line made it for; null when a phone began it. */
  groupId: string | null
  name: string | null
  photoUrl: string | null
  /** The phones in it; the line is, too. */
  members: readonly string[]
  createdAt: number
  /** Grows with every change; the line is told of each. */
  version: number
}

/** How a chat was after a change, and who made it. */
export interface PhoneGroupChange {
  chatId: string
  version: number
  /** Handle of a phone in it, or the line's number. */
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
  /** Number of whose it is. */
  by: string
  /** One of the six names, or an emoji. */
  reaction: string
  at: number
}
