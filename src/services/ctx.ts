import type { Clock } from '../base/clock.js'
import type { Random } from '../base/ids.js'
import type { Metrics } from '../base/metrics.js'
import type { Config } from '../config.js'
import type { Vault } from '../core/accounts/seal.js'
import type { Line } from '../core/lines/line.js'
import type { Driver, LineActions } from '../drivers/contract.js'
import type { Db } from '../storage/engine/db.js'
import type { Blobs } from '../storage/media/blobs.js'
import type { NewMessage } from '../storage/messages/rows.js'
import type { WorldSettings } from './accounts/default-world.js'
import type { Directory } from './accounts/directory.js'
import type { Answered, Asked } from './lines/actions.js'
import type { Holds } from './messages/holds.js'
import type { Acceptance } from './messages/send.js'
import type { WebhookBook } from './webhooks/book.js'
import type { Door } from './webhooks/door/door.js'

/** The long-lived things, built once in app.ts and handed to everything that has effects. */
export interface Ctx {
  db: Db
  config: Config
  clock: Clock
  /** A unique id that sorts by time. */
  newId(): string
  random: Random
  log: Log
  metrics: Metrics
  drivers: ReadonlyMap<string, Driver>
  /** How the lines of the default world are set, where not as other lines. */
  seed: WorldSettings
  /** Keys, accounts and lines as every request needs them. */
  directory: Directory
  lines: LineDesk
  acceptance: Acceptance
  /** Conversations in which nothing may go out at the moment. */
  holds: Holds
  /** The one way out for URLs that users choose. */
  door: Door
  /** The bytes of media. */
  blobs: Blobs
  /** Where the outside reaches us, without a slash at the end; empty while that is not known yet. */
  publicUrl(): string
  /** Runs work that nobody waits for: settling does. */
  errand<T>(work: () => Promise<T>): Promise<T>
  /** Seals what must be read again, and opens it. */
  vault: Vault
  /** Where accounts want their events posted. */
  webhooks: WebhookBook
  wakes: Wakes
  /** A named moment at which a test may kill the process. Does nothing otherwise. */
  failpoint(name: string): void
}

export interface Log {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  error(fields: object, text: string): void
  debug(fields: object, text: string): void
  isLevelEnabled(level: string): boolean
}

/** The lines this process drives at the moment. */
export interface LineDesk {
  get(lineId: string): DrivenLine | undefined
  all(): DrivenLine[]
  /** Resolves when this process has caught up with what it was woken for: changed lines are driven as they are now. */
  tended(): Promise<void>
}

export interface DrivenLine {
  line: Line
  /** Asks the carrier now about a message whose outcome is unknown. */
  resolve(messageId: number): Promise<void>
  /** The message changed under the runner's feet: look at it again. */
  recheck(messageId: number): void
  /** A message that is being stored for it, so that it need not read it back. */
  expect(message: NewMessage): void
  /** Asks the carrier to do something at once. */
  act<M extends keyof LineActions>(method: M, ask: Asked<M>): Promise<Answered<M>>
  queued(): number
  inFlight(): number
}

/**
 * Hints that there is something to do. They reach every process on the database, may be lost, and carry no
 * truth of their own: whoever is woken reads the database.
 */
export interface Wakes {
  wake(topic: string, detail?: string): void
  on(topic: string, handler: (detail: string) => void): () => void
}
