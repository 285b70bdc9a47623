import type { Capabilities, Line } from '../core/lines/line.js'
import type { MessageExtra } from '../core/messages/extra.js'
import type { SendStyle, Service } from '../core/messages/message.js'
import type { Evidence, SendResult } from '../core/messages/outcome.js'
import type { DriverHost, ProbeHost } from './host.js'

/**
 * What Trunkline asks of a carrier. A driver knows one carrier and nothing else of the program: it gets a line's
 * settings and a host, and hands back a connection. The presence of an optional method is the ability.
 */
export interface Driver {
  /** What a line names it by: small letters, digits and hyphens. */
  kind: string
  /** The carrier, in words for people. */
  title: string
  /**
   * Validates a line's settings and draws their form. A property with `secret: true` is kept sealed and never shown
   * again.
   */
  config: ConfigSchema
  /** May not depend on secrets. */
  capabilities(config: Record<string, unknown>): Capabilities
  /** A line's settings where nobody gave any, when others than usual suit this carrier. */
  defaults?: Partial<Pick<Line, 'pace' | 'settleMs'>>
  /** How long a send may take, when the carrier needs longer than the server is set to wait. */
  sendTimeoutMs?: number
  /** Starts to connect and answers at once: how that goes is a state. */
  connect(line: Line, host: DriverHost): Promise<Connection>
  /** Tries settings out without sending anything, and says what it found. */
  probe?(settings: Pick<Line, 'number' | 'config'>, host: ProbeHost): Promise<Finding[]>
}

/** JSON Schema of an object, made by hand or with TypeBox. */
export interface ConfigSchema {
  type: 'object'
  properties: Record<string, object>
  required?: string[]
  additionalProperties?: boolean | object
}

/** One thing that was tried, in words for whoever sets the line up. */
export interface Finding {
  ok: boolean
  what: string
  /** What to do about it. */
  advice?: string
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
  /** The carrier called us at the host's `callbackUrl`. Whoever called knows the address, which nobody can guess. */
  callback(request: CallbackRequest): Promise<CallbackReply>
}

export interface CallbackRequest {
  method: string
  /** What follows the address we gave out, with the query. */
  path: string
  headers: Record<string, string>
  /** As it came, in base64. */
  body: string
}

export interface CallbackReply {
  /** Carriers come again after anything but 2xx. */
  status: number
  /** A text goes out as it is, everything else as JSON. */
  body?: unknown
  /** Of a text; default text/plain. */
  contentType?: string
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
}

export interface AttemptRef {
  ref: string
  /** Empty when it went to a group. */
  to: string
  group: Group | null
  content: string
  mediaUrl: string
  extra: MessageExtra | null
  service: Service
  wireAt: number
  /** When we gave up waiting for an answer: until then it may have left. */
  unknownSince: number
}
