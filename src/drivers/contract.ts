import type { Capabilities, Line } from '../core/lines/line.js'
import type { MessageExtra } from '../core/messages/extra.js'
import type { CarriedFields, Service } from '../core/messages/message.js'
import type { Evidence, SendResult } from '../core/messages/outcome.js'
import type { SendStyle } from '../core/messages/send-style.js'
import type { DriverHost, ProbeHost } from './host.js'

/**
 * A driver connects Trunkline to one carrier. It gets a line's settings and a host, and returns a connection; it
 * uses nothing else of the program. A connection supports an optional action by having the method for it.
 */
export interface Driver {
  /** The value of a line's `driver` setting: lower-case letters, digits and hyphens. */
  kind: string
  /** Name of the carrier, shown to users. */
  title: string
  /**
   * Validates a line's settings; the CLI and the console build their forms from it. A property with `secret: true`
   * is stored sealed and never returned. `destination: true` marks the settings that say where secrets are sent: when
   * one of them changes, secrets must be given again.
   */
  config: ConfigSchema
  /** Reads `config` without its secrets. */
  capabilities(config: Record<string, unknown>): Capabilities
  /** How the carrier calls a line's `callbackUrl`; undefined if it does not with these settings. Reads no secret. */
  calls?(config: Record<string, unknown>): CarrierCalls | undefined
  /** Defaults for line settings, where this carrier needs other values than the server's. */
  defaults?: Partial<Pick<Line, 'pace' | 'paceUnit' | 'settleMs' | 'consentReplies'>>
  /** Time limit of a send in milliseconds, if this carrier needs more than the server's own limit. */
  sendTimeoutMs?: number
  /** Returns at once and connects in the background; the driver reports progress through `host.state`. */
  connect(line: Line, host: DriverHost): Promise<Connection>
  /** Checks settings without sending a message. */
  probe?(settings: Pick<Line, 'number' | 'config'>, host: ProbeHost): Promise<Finding[]>
}

export interface CarrierCalls {
  /** URL of the carrier's server, which tells a carrier on the internet from one in the own network. */
  from: string
  /** What happens without calls, as the end of a sentence. */
  without: string
  /** Whether the line is of little use without calls. */
  isNeeded?: boolean
}

/** JSON Schema of an object, made by hand or with TypeBox. */
export interface ConfigSchema {
  type: 'object'
  properties: Record<string, object>
  required?: string[]
  additionalProperties?: boolean | object
}

/** Result of one check, worded for the person who sets up the line. */
export interface Finding {
  ok: boolean
  what: string
  /** How to fix a failed check. */
  advice?: string
}

export interface Connection extends Partial<LineActions> {
  /**
   * Sends one message. Carrier trouble is a result, not an exception: the result says what is known about the
   * outcome. An exception, or no result within the send's time limit, counts as `unknown`.
   */
  send(message: Outbound): Promise<SendResult>
  /** No send starts after this call; sends in progress may finish. */
  close(): Promise<void>
  /** Asks the carrier for the outcome of an attempt. */
  lookup?(attempt: AttemptRef): Promise<Evidence>
}

/**
 * Actions of a line besides sending. Arguments and results are plain JSON, because the request may come from
 * another process than the one that holds the line. Repeating an action must be harmless. A carrier's refusal is a
 * LineFault. `accountId` is the account that asks, one of several on a shared line.
 */
export interface LineActions {
  /** Services that reach this number or e-mail address, for carriers that know before sending. */
  availability(ask: { accountId: string; number: string }): Promise<readonly Service[]>
  setTyping(ask: { accountId: string; to: string; typing: boolean; maxDurationMs: number }): Promise<void>
  /** Marks everything from this sender as read and sends them the read receipt. */
  markRead(ask: { accountId: string; to: string }): Promise<void>
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
  /**
   * Creates the chat before its first message. A driver whose carrier cannot do that creates the chat with the
   * first message.
   */
  createGroup(ask: { group: Group }): Promise<void>
  modifyGroup(ask: { group: Group; change: 'add' | 'remove'; number: string }): Promise<void>
  renameGroup(ask: { group: Group; name: string | null }): Promise<void>
  setGroupPhoto(ask: { group: Group; photoUrl: string | null }): Promise<void>
  /** Locations shared with this line; `number: null` lists all of them. */
  locations(ask: { number: string | null }): Promise<LocationShare[]>
  /** Name and photo that recipients see for this line. */
  profile(ask: Record<string, never>): Promise<Profile>
  setProfile(ask: ProfileChange): Promise<Profile>
  shareProfile(ask: { accountId: string; to: string }): Promise<void>
  /**
   * The carrier called the host's `callbackUrl`. The URL holds an unguessable secret, so only the carrier can call
   * it.
   */
  callback(request: CallbackRequest): Promise<CallbackReply>
  /** The phone that is paired with this line called, under `/mobile/v1`. Returns the texts for it, on a pull. */
  phone(call: PhoneCall): Promise<PhoneText[]>
}

/** A call of a paired phone, which has shown its token. Values that it posted are not checked. */
export type PhoneCall =
  /** The phone opened or closed its event stream. */
  | { kind: 'stream'; isOpen: boolean }
  /** The phone asks for texts. What was handed out before `registeredAt` may be on another phone. */
  | { kind: 'pull'; registeredAt: number }
  /** States of texts, by their ids. */
  | { kind: 'report'; reports: readonly unknown[] }
  /** The phone received a text. */
  | { kind: 'received'; event: string; payload: unknown }
  /** The phone was removed. */
  | { kind: 'unpaired' }

/** A text for a paired phone, in the words of the app. The phone sends an id once, however often it is told. */
export interface PhoneText {
  id: string
  textMessage: { text: string }
  phoneNumbers: readonly string[]
  withDeliveryReport: boolean
}

export interface CallbackRequest {
  method: string
  /** The part after the callback URL, with the query string. */
  path: string
  headers: Record<string, string>
  /** Raw body in base64. */
  body: string
}

export interface CallbackReply {
  /** Carriers retry after any status other than 2xx. */
  status: number
  /** A string is sent unchanged, any other value as JSON. */
  body?: unknown
  /** Content type of a string body; default text/plain. */
  contentType?: string
}

/** A group of ours, for the driver. */
export interface Group {
  /** Trunkline's id. */
  id: string
  accountId: string
  /** The carrier's id; null until the carrier reports it. */
  chatId: string | null
  /** All members except the line itself. */
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
    /** Why the location is old, if the carrier could not provide a fresh one. */
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

/** An absent field stays unchanged; an empty string or null clears it. */
export interface ProfileChange {
  firstName?: string
  lastName?: string
  displayName?: string
  photoUrl?: string | null
  /** Removes the whole profile. */
  remove?: true
}

/**
 * A message to put on the wire. `accountId`, `handle`, `content`, `mediaUrl` and `extra` (a carousel, an app card or a request to
 * share a location; null for an ordinary message) are the message's own.
 */
export interface Outbound extends CarriedFields {
  /** Random id of this attempt. A driver passes it to the carrier if the carrier can return it with receipts. */
  ref: string
  to: string
  service: Service
  sendStyle: SendStyle | ''
  /** The carrier's id of the message this one answers. */
  replyTo: { providerId: string; partIndex: number } | null
  /** The recipient group; `to` is then empty. */
  group: Group | null
}

export interface AttemptRef {
  ref: string
  /** The message's handle, the same for all its attempts; empty if the message is gone. */
  handle: string
  /** Empty if the message went to a group. */
  to: string
  group: Group | null
  content: string
  mediaUrl: string
  extra: MessageExtra | null
  service: Service
  wireAt: number
  /** When the worker stopped waiting for a result; the message may have left until then. */
  unknownSince: number
}
