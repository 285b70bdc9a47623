import type { MessageExtra } from '../core/messages/extra.js'
import type { Service } from '../core/messages/message.js'

/** A message as the carrier brings it. */
export interface Inbound {
  /**
   * The carrier's id of it, the same whenever it brings the message again. A carrier that has none leaves it out;
   * then the host must hear of the thanks (`thanked`), because only what was not thanked for comes again.
   */
  providerId?: string
  /** Of a message without an id: the connection that brought it, when the driver has more than one in its life. */
  session?: string
  /** The carrier may bring one message under two ids: sender, text and time of sending tell that it is the same. */
  unstableId?: boolean
  /** Our own name of a send, when the carrier hands it back. */
  ref?: string
  /** The carrier says that our side wrote it: it is never an inbound message. */
  fromMe?: boolean
  /** It may be a copy of something we sent, and the carrier cannot say: our own books decide. */
  mayBeEcho?: boolean
  /** It only shows a link, which some carriers bring as a message of its own after the text that had it. */
  linkPreview?: boolean
  /** One of several parts of a long text, counted from 1. They may come in any order. */
  part?: { ref: string; n: number; total: number }
  from: string
  service: Service
  content: string
  mediaUrl?: string
  /** Opens its media, where that has no address we could call. Asked once, and only for a message that is new. */
  media?: () => Promise<MediaBytes>
  /** The effect it was sent with. */
  sendStyle?: string
  sentAt: number
  /** `sentAt` is the carrier's own time, the same whenever it brings the message again. Tells messages without ids apart. */
  stamped?: boolean
  /** The carrier's id of the message this one answers. */
  replyTo?: { providerId: string; partIndex?: number }
  /** The group chat it came in. */
  group?: GroupNews
  /** An app card or a shared location. */
  extra?: MessageExtra
}

/** A group chat as the carrier has it now. */
export interface GroupNews {
  /** The carrier's own id. */
  chatId: string
  /** Our id, when it was made for a group of ours. */
  groupId: string | null
  /** Everyone but the line. */
  members: readonly string[]
  name: string | null
  /** Left out when the carrier does not say. */
  photoUrl?: string | null
}

export interface MediaBytes {
  body: AsyncIterable<Buffer>
  contentType: string
  fileName: string
}
