import type { Clock } from './clock.js'
import type { Config } from './config.js'
import type { Line } from './core/line.js'
import type { Vault } from './core/seal.js'
import type { Driver, LineActions } from './drivers/driver.js'
import type { Random } from './ids.js'
import type { Metrics } from './metrics.js'
import type { Directory } from './services/directory.js'
import type { Door } from './services/door.js'
import type { Holds } from './services/holds.js'
import type { Answered, Asked } from './services/line-actions.js'
import type { Acceptance } from './services/messages.js'
import type { WebhookBook } from './services/webhook-book.js'
import type { WorldSettings } from './services/world.js'
import type { Blobs } from './storage/blobs.js'
import type { Db } from './storage/db.js'
import type { NewMessage } from './storage/message-rows.js'

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
