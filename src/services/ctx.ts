import type { Loops } from '../base/again.js'
import type { Clock } from '../base/clock.js'
import type { Random } from '../base/ids.js'
import type { Log } from '../base/log.js'
import type { Metrics } from '../base/metrics.js'
import type { Wakes } from '../base/wakes.js'
import type { Config } from '../config.js'
import type { Vault } from '../core/accounts/seal.js'
import type { AppError } from '../core/errors.js'
import type { Line } from '../core/lines/line.js'
import type { NewMessage } from '../core/messages/message.js'
import type { AnsweredCall } from '../core/requests/request.js'
import type { UrlRules } from '../core/url.js'
import type { WebhookEndpoint } from '../core/webhooks/webhook.js'
import type { Driver, LineActions } from '../drivers/contract.js'
import type { Db } from '../storage/engine/db.js'
import type { Blobs } from '../storage/media/blobs.js'
import type { Hold } from '../storage/messages/holds.js'
import type { Directory } from './accounts/directory.js'
import type { Meters } from './accounts/meters.js'
import type { Portions } from './accounts/portions.js'
import type { OwnMarks } from './erasure/marks.js'
import type { Shrink } from './media/shrink.js'
import type { RequestIdentity } from './replay.js'
import type { Traces } from './tracing/traces.js'
import type { Door } from './webhooks/door/door.js'

/** Parts that need no service: app.ts makes them first. */
export interface Platform {
  db: Db
  config: Config
  clock: Clock
  /** A unique id that sorts by time. */
  newId(): string
  random: Random
  log: Log
  metrics: Metrics
  /** Background work of this process. */
  loops: Loops
  wakes: Wakes
  /** Sizes of background work, so that accounts leave each other time. */
  portion: Portions['portion']
  rest: Portions['rest']
  /** Seals what must be read again, and opens it. */
  vault: Vault
  /** What stands in the place of erased people. */
  marks: OwnMarks
  exposure: Exposure
  /** Where URLs that users choose may lead at the moment. */
  urlRules: UrlRules
  /** The only way out for URLs that users choose. */
  door: Door
  disk: Disk
  /** The bytes of media. */
  blobs: Blobs
  shrink: Shrink
  /** When the carrier of a line last called this process, by the line's id; lost at a restart. */
  lastCalls: { get(lineId: string): number | undefined; set(lineId: string, at: number): void }
  /** The address under which clients reach this server, without a slash at the end; empty until it listens. */
  publicUrl(): string
  /** Runs work that no caller awaits. `settle()` waits for it. */
  errand<T>(work: () => Promise<T>): Promise<T>
  /** A named moment at which a test may kill the process. Does nothing otherwise. */
  failpoint(name: string): void
}

/** The disk that messages are stored on. */
export interface Disk {
  /** Looks at once and then regularly, until `stop`. */
  watch(): void
  stop(): void
  /** Undefined: not known. */
  freeBytes(): number | undefined
  /** What the operator must know; undefined if there is enough space. */
  trouble(): string | undefined
  /** The answer to a request that would store much; undefined if there is enough space. */
  refusal(): AppError | undefined
}

/** Whether this is a harmless world, in which the development keys and loopback URLs are allowed. */
export interface Exposure {
  /** What makes the world more than harmless; empty in a harmless world. */
  harms(): readonly string[]
  load(): Promise<void>
  /** Like `load`, but runs in the background: hints of other processes may get lost. */
  look(): void
}

/** The long-lived parts of the program, complete from the start, for every function that has effects. */
export interface Ctx extends Platform {
  drivers: ReadonlyMap<string, Driver>
  /** Settings of the default world's lines where they differ from those of other lines. */
  seed: Partial<Pick<Line, 'pace' | 'config'>>
  /** Keys, accounts and lines, cached for requests. */
  directory: Directory
  /** What accounts use of this process at the moment. */
  meters: Meters
  requestLog: RequestLog
  /** Undefined: no traces are exported. */
  traces?: Traces | undefined
  lines: LineDesk
  holds: Holds
  webhooks: WebhookBook
  acceptance: Acceptance
  backlog: Backlog
}

/**
 * The log of API calls. `note` only puts the call into a list, which the background writes every second. So the last
 * second is lost when the process ends without stopping.
 */
export interface RequestLog {
  note(call: AnsweredCall): void
  /** Writes what waits. Never fails: calls that cannot be written wait for the next try. */
  flush(): Promise<void>
  removeOld(): Promise<void>
  stop(): Promise<void>
}

/** The lines this process drives at the moment. */
export interface LineDesk {
  get(lineId: string): DrivenLine | undefined
  all(): DrivenLine[]
  /** Resolves when the worker has acted on every change of lines that it was woken for. */
  tended(): Promise<void>
}

export interface DrivenLine {
  line: Line
  /** Asks the carrier now about a message whose outcome is unknown. */
  resolve(messageId: number): Promise<void>
  /** Another transaction changed the message: read it again. */
  recheck(messageId: number): void
  /** A message that was done is due again. */
  requeue(messageId: number): void
  /** Asks the carrier to do something at once. */
  act<M extends keyof LineActions>(method: M, input: ActionInput<M>): Promise<ActionResult<M>>
  queued(): number
  inFlight(): number
}

export type ActionInput<M extends keyof LineActions> = Parameters<LineActions[M]>[0]
export type ActionResult<M extends keyof LineActions> = Awaited<ReturnType<LineActions[M]>>

/** Held conversations, known to every process without a query. The table decides. */
export interface Holds {
  /** Until when an account's conversation on a line is held. */
  until(lineId: string, accountId: string, conversation: string): number | undefined
  /** Calls the handler for each conversation that is released. */
  onRelease(handler: (lineId: string, conversation: string) => void): () => void
  load(): Promise<void>
  /** Like `load`, but runs in the background: hints of other processes may get lost. */
  look(): void
  /** Holds a conversation at once, while `write` stores the hold. Until `write` ends the table has no say. */
  hold(
    hold: Pick<Hold, 'lineId' | 'accountId' | 'conversation' | 'until'>,
    write: () => Promise<void>,
  ): Promise<void>
}

/** The webhooks of each account with opened secrets, kept in memory until they change. */
export interface WebhookBook {
  /** `version` asks for a configuration that is at least that new. */
  endpointsOf(accountId: string, version?: number): Promise<readonly WebhookEndpoint[]>
  /** The secrets that sign status callbacks; empty before the account has one. */
  callbackSecretsOf(accountId: string): Promise<readonly string[]>
}

/** The entrance of every outbound message: one place for opt-outs, the event, totals and repeated requests. */
export interface Acceptance {
  /** Resolves when the message is on disk. The caller has checked that the line may send it. */
  accept(message: NewMessage, request: RequestIdentity): Promise<AcceptedSend>
  /** Refuses what is stored for the sake of a message that would be refused. */
  requireRoom(place: QueuePlace): Promise<void>
  /** A recently accepted message, as it was then. It may have been changed or deleted since. */
  recent(handle: string): NewMessage | undefined
}

/** The message as it was accepted, or the answer that an earlier equal request got. */
export interface AcceptedSend {
  message: NewMessage
  replayed: boolean
  /** The queue that the message has joined; undefined for one that waits elsewhere or ended at once. */
  queue?: QueueState
}

/** How many messages of an account wait for a line, and how long a further one would. */
export interface QueueState {
  length: number
  waitMs: number
}

/**
 * The waiting messages of each account on each line, in memory. Sends and results of this process change the numbers
 * at once. The totals in the database, which every process keeps, correct them.
 */
export interface Backlog {
  /** Reads the totals if the numbers are old or the queue looks full. Undefined: no need to wait. */
  refresh(send: QueuePlace): Promise<void> | undefined
  /** How many messages the account may send in a day, as of the last `refresh`. Undefined: any number. */
  maxDaily(send: QueuePlace): number | undefined
  /** Counts a message that is about to be stored, and returns the state of the queue with it. Undefined: it is full. */
  join(send: QueuePlace): QueueState | undefined
  /** The message that joined is stored and waits for its line, or not. */
  settle(send: QueuePlace, waits: boolean): void
  /** Messages have left because their line is done with them, which shows how fast the line is. */
  finish(send: QueuePlace, n: number): void
  state(send: QueuePlace): QueueState & { limit: number }
}

/** An account's queue on a line. */
export type QueuePlace = Pick<NewMessage, 'accountId' | 'lineId'>
