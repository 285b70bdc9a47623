import type { TSchema } from 'typebox'
import type { Capabilities, Line, LineState } from '../core/line.js'
import type { SendStyle, Service } from '../core/message.js'
import type { MessageExtra } from '../core/message-extra.js'
import type { Evidence, Receipt, SendResult } from '../core/outcome.js'

/**
 * What Trunkline asks of a carrier. A driver knows one carrier and nothing else of the program: it gets a line's
 * settings and a host, and hands back a connection. The presence of an optional method is the ability.
 */
export interface Driver {
  kind: string
  /** Validates a line's settings. */
  config: TSchema
  capabilities(config: Record<string, unknown>): Capabilities
  connect(line: Line, host: DriverHost): Promise<Connection>
}

export interface Connection extends Partial<LineActions> {
  /**
   * Puts one message on the wire. Never throws for trouble of the carrier: it says what is known of the outcome.
   * A throw, or no answer within `timeoutMs` of the host, counts as unknown.
   */
  send(message: Outbound): Promise<SendResult>
  /** No sends follow; what is under way may finish. */
  close(): Promise<void>
  /** Asks the carrier what became of an attempt. */
  lookup?(attempt: AttemptRef): Promise<Evidence>
}

/**
 * What a line can be asked to do at once, beside sending. Every argument and every answer is plain JSON: the
 * asking may happen in another process than the one that drives the line. Doing one twice must do no harm.
 * The carrier's no is a LineFault.
 */
export interface LineActions {
  /** The services the carrier can reach this number (or e-mail address) by, when it knows before sending. */
  availability(number: string): Promise<readonly Service[]>
  setTyping(ask: { to: string; typing: boolean; maxDurationMs: number }): Promise<void>
  /** Everything this person sent is read, and they are told. */
  markRead(ask: { to: string }): Promise<void>
  react(ask: {
    to: string
    groupId: string | null
    /** The carrier's id of the message. */
    providerId: string
    partIndex: number
    /** love, like, dislike, laugh, emphasize, question, or one emoji. */
    reaction: string
    remove: boolean
  }): Promise<void>
  /** Makes the chat before anything is said in it. A driver whose carrier cannot leaves it to the first message. */
  createGroup(ask: { group: Group }): Promise<void>
  modifyGroup(ask: { group: Group; change: 'add' | 'remove'; number: string }): Promise<void>
  renameGroup(ask: { group: Group; name: string | null }): Promise<void>
  setGroupPhoto(ask: { group: Group; photoUrl: string | null }): Promise<void>
  /** Places that people share with this line; of one person, or all. */
  locations(ask: { number: string | null }): Promise<LocationShare[]>
  /** Name and photo that the line shows to others. */
  profile(ask: Record<string, never>): Promise<Profile>
  setProfile(ask: ProfileChange): Promise<Profile>
  shareProfile(ask: { to: string }): Promise<void>
}

/** A group chat as a driver needs to know it. */
export interface Group {
  /** Our id. */
  id: string
  /** The carrier's own id, once it told us. */
  chatId: string | null
  /** Everyone but the line. */
  members: readonly string[]
  name: string | null
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

export interface LocationShare {
  number: string
  state: 'shared_no_fix_yet' | 'shared_with_fix'
  location: {
    latitude: number
    longitude: number
    accuracy: number | null
    altitude: number | null
    address: string | null
    locationType: 'shallow' | 'live' | 'legacy' | 'unknown'
    at: number
    expiresAt: number | null
    /** Why this is an old fix, when a fresh one was asked for and could not be had. */
    refreshError: string | null
  } | null
}

export interface Profile {
  hasProfile: boolean
  sharingEnabled: boolean
  firstName: string | null
  lastName: string | null
  displayName: string | null
  hasPhoto: boolean
}

/** Absent: stays as it is. Empty or null: is taken away. */
export interface ProfileChange {
  firstName?: string
  lastName?: string
  displayName?: string
  photoUrl?: string | null
  /** Take the whole profile away. */
  remove?: true
}

export interface Outbound {
  /** Our random name of this attempt: whatever the carrier can carry back to us. */
  ref: string
  handle: string
  to: string
  service: Service
  content: string
  mediaUrl: string
  sendStyle: SendStyle | ''
  /** The carrier's id of the message this one answers. */
  replyTo: { providerId: string; partIndex: number } | null
  /** The group it goes to; then `to` is empty. */
  group: Group | null
  /** Carousel, app card or a request to share a location; null for an ordinary message. */
  extra: MessageExtra | null
  /** The test run it belongs to: simulated phones show it. */
  run: string | null
}

export interface AttemptRef {
  ref: string
  to: string
  content: string
  service: Service
  wireAt: number
}

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
  /** The test run that a simulated phone sent it in. */
  run?: string
}

export interface DriverHost {
  /** The inbound door. Resolves once the message is stored; only then may the carrier be thanked. */
  receive(message: Inbound): Promise<void>
  /** The carrier was thanked for a message without an id, given as it was received: an equal one is another one. */
  thanked(message: Inbound): Promise<void>
  /** Status news, early, late, doubled or out of order: the host sorts it out. */
  receipt(receipt: Receipt): Promise<void>
  /** The person has read our message. */
  read(receipt: { providerId: string; at: number }): Promise<void>
  /** A group chat was made or changed on the other side. Telling the same twice does no harm. */
  group(news: GroupNews): Promise<void>
  /** Somebody's place, or whether they share it, has changed. */
  locationsChanged(): void
  /** Connection trouble is a state, not an exception. */
  state(state: LineState, detail?: string): void
  /** The carrier lets this line send nothing any more. Telling it twice does no harm. */
  blocked(detail: string): void
  clock: DriverClock
  log: { info(fields: object, text: string): void; warn(fields: object, text: string): void }
}

export interface DriverClock {
  now(): number
  /** Calls `fn` after that time; the answer cancels it. */
  after(ms: number, fn: () => void): () => void
}
