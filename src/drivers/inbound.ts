import type { MessageExtra } from '../core/messages/extra.js'
import type { Service } from '../core/messages/message.js'

/** A message from the carrier. */
export interface Inbound {
  /**
   * The carrier's id of the message, stable across redeliveries. A driver whose carrier has no such id omits it and
   * reports each acknowledgement with `host.acknowledged`, because a carrier redelivers only messages without an
   * acknowledgement.
   */
  providerId?: string
  /** For a message without an id: the connection that delivered it, if the driver reconnects during its life. */
  session?: string
  /** The carrier may deliver one message under two ids; sender, text and send time then identify a redelivery. */
  unstableId?: boolean
  /** `Outbound.ref`, if the carrier returns it. */
  ref?: string
  /** The carrier says that this line sent the message, so it is never inbound. */
  fromMe?: boolean
  /** The message may be a copy of a send, and the carrier cannot tell; the host compares it with recent sends. */
  mayBeEcho?: boolean
  /** Only a link preview, which some carriers deliver as a separate message after the text with the link. */
  linkPreview?: boolean
  /** One part of a long text, counted from 1. Parts may arrive in any order. */
  part?: { ref: string; n: number; total: number }
  from: string
  service: Service
  content: string
  mediaUrl?: string
  /** Opens the media if it has no URL that the host can fetch. Called at most once, and only for a new message. */
  media?: () => Promise<MediaBytes>
  /** The iMessage effect of the message. */
  sendStyle?: string
  sentAt: number
  /** `sentAt` comes from the carrier and is stable across redeliveries; it distinguishes messages without ids. */
  stamped?: boolean
  /** The carrier's id of the message this one answers. */
  replyTo?: { providerId: string; partIndex?: number }
  /** The group chat of the message. */
  group?: GroupNews
  /** An app card or a shared location. */
  extra?: MessageExtra
}

/** The current state of a group chat at the carrier. */
export interface GroupNews {
  /** The carrier's id. */
  chatId: string
  /** Trunkline's id, if the driver created the chat for a Trunkline group. */
  groupId: string | null
  /** All members except the line itself. */
  members: readonly string[]
  name: string | null
  /** Absent if the carrier does not report the photo. */
  photoUrl?: string | null
}

export interface MediaBytes {
  body: AsyncIterable<Buffer>
  contentType: string
  fileName: string
}
