import { AppError, type ErrorCode } from '../errors.js'
import { type Account, ADMIN_OWNER } from './account.js'

/**
 * The limits of one account, so that it cannot take what the other accounts need. The API, its document, the command
 * line, the console and docs/budgets.md follow from this table.
 */
interface Budget {
  /** Default limit; a plan or an account may have another. */
  limit: number
  unit: string
  about: string
  /** The answer's error code when the limit is reached; null if no request is refused because of it. */
  code: ErrorCode | null
  /** Where uses are counted: in the memory of each process, or in the database, in the transaction of the use. */
  counted: 'process' | 'database'
  /** Whether an account, its test account and its worlds share one count. Otherwise each has its own. */
  isShared: boolean
  /** What a caller at the limit can do. */
  advice: string
  /** When to try again. Undefined: trying again does not help by itself, and clients are told so. */
  retryAfterMs?: number
}

const budgets = <N extends string>(table: Record<N, Budget>): Readonly<Record<N, Budget>> => table
const MB = 1_000_000

export const BUDGETS = budgets({
  requests: {
    limit: 2000,
    unit: 'requests a second',
    about: 'Requests with keys and tokens of the account, divided among the processes on one database',
    code: 'rate_limited',
    counted: 'process',
    isShared: true,
    advice: 'Wait as long as Retry-After says, and spread requests out.',
    retryAfterMs: 1000,
  },
  lists: {
    limit: 100,
    unit: 'requests in 10 seconds',
    about: 'Lists of messages; searches, counted on their own. Divided among the processes on one database',
    code: 'rate_limited',
    counted: 'process',
    isShared: false,
    advice: 'Wait as long as Retry-After says. Webhooks and the event stream tell of changes without asking.',
    retryAfterMs: 10_000,
  },
  memory: {
    limit: 64 * MB,
    unit: 'bytes',
    about: 'Bodies of requests and fetched images that a process holds at one moment',
    code: 'rate_limited',
    counted: 'process',
    isShared: true,
    advice: 'Send fewer large requests at once.',
    retryAfterMs: 1000,
  },
  streams: {
    limit: 1000,
    unit: 'open streams',
    about: 'Event streams and other streams open at one process',
    code: 'rate_limited',
    counted: 'process',
    isShared: true,
    advice: 'Close streams that nobody reads.',
    retryAfterMs: 10_000,
  },
  queued: {
    limit: 50_000,
    unit: 'messages on each line',
    about: 'Messages that were accepted and wait for their line',
    code: 'unavailable',
    counted: 'database',
    isShared: false,
    advice: 'Wait as long as Retry-After says, or use a further line.',
  },
  scheduled: {
    limit: 100_000,
    unit: 'messages',
    about: 'Messages that wait for their send_at',
    code: 'rate_limited',
    counted: 'database',
    isShared: false,
    advice: 'Cancel scheduled messages, or send this one when others have gone out.',
  },
  daily: {
    limit: 1_000_000_000,
    unit: 'messages a day',
    about:
      'Messages accepted in one day, from midnight UTC to midnight UTC. Limits below 100,000,000 are checked',
    code: 'rate_limited',
    counted: 'database',
    isShared: false,
    advice: 'Send the rest after midnight UTC.',
  },
  media: {
    limit: 10_000 * MB,
    unit: 'bytes',
    about: 'Uploaded and received media in store',
    code: 'too_large',
    counted: 'database',
    isShared: false,
    advice: 'Link to files on a server of your own, or ask the operator to keep media for fewer days.',
  },
  contacts: {
    limit: 1_000_000,
    unit: 'contacts',
    about: 'Contacts. At the limit, people who write still reach the account, but do not become contacts',
    code: 'rate_limited',
    counted: 'database',
    isShared: false,
    advice: 'Delete contacts with DELETE /api/v2/contacts.',
  },
  webhooks: {
    limit: 100,
    unit: 'webhooks of each type',
    about: 'Configured webhooks',
    code: 'rate_limited',
    counted: 'database',
    isShared: false,
    advice: 'Remove webhooks that are not in use.',
  },
  deliveries: {
    limit: 100_000,
    unit: 'deliveries',
    about: 'Webhook posts and status callbacks that wait for their receiver. Beyond it the oldest fail',
    code: null,
    counted: 'database',
    isShared: false,
    advice: 'Fix the receiver, then replay the failed deliveries.',
  },
  worlds: {
    limit: 50,
    unit: 'worlds',
    about: 'Worlds that exist at once',
    code: 'rate_limited',
    counted: 'database',
    isShared: false,
    advice: 'GET /sim/worlds lists the worlds, DELETE /sim/worlds/{id} removes one.',
  },
})

export type BudgetName = keyof typeof BUDGETS
/** Limits that differ from the defaults. */
export type BudgetLimits = { readonly [N in BudgetName]?: number }
/** Null takes a limit away. */
export type BudgetChanges = { readonly [N in BudgetName]?: number | null }
export type Limits = Readonly<Record<BudgetName, number>>
/** An account with its limits, whoever set them. */
export type LimitedAccount = Account & { limits: Limits }

export const BUDGET_NAMES = Object.keys(BUDGETS) as BudgetName[]

/** A world stores a tenth of what its owner may: fifty of them are worth five accounts, not fifty. */
const WORLD_SHARE = 10

/** The limits of an account: its own before those of its plan before the defaults. A world has those of its owner. */
export function limitsOf(plan: BudgetLimits, own: BudgetLimits, isWorld: boolean): Limits {
  const limit = (name: BudgetName) => {
    const whole = own[name] ?? plan[name] ?? BUDGETS[name].limit
    return isWorld && isStored(name) ? Math.ceil(whole / WORLD_SHARE) : whole
  }
  return Object.fromEntries(BUDGET_NAMES.map((name) => [name, limit(name)])) as Limits
}

const isStored = (name: BudgetName) => BUDGETS[name].counted === 'database'

/** The limit of `daily`, if messages must be counted for it: the default of a world is none. */
export function dailyLimitOf({ daily }: Limits): number | undefined {
  return daily < BUDGETS.daily.limit / WORLD_SHARE ? daily : undefined
}

export const DEFAULT_LIMITS = limitsOf({}, {}, false)

/** Numbers by name after changes, in which null takes a number away. */
export function changedLimits(
  before: Readonly<Record<string, number>>,
  changes: { readonly [name: string]: number | null | undefined },
): Record<string, number> {
  const given = Object.entries({ ...before, ...changes }).filter(([, limit]) => limit != null)
  return Object.fromEntries(given) as Record<string, number>
}

/** The account on which shared budgets are counted. Worlds of an admin key count on their own. */
export function payerOf({ id, world, twinId, owner }: Account): string {
  if (owner !== null && owner !== ADMIN_OWNER) return owner
  return world === 'test' ? twinId : id
}

/** The refusal of a caller at the limit. */
export function overBudget(
  name: Exclude<BudgetName, 'deliveries'>,
  limit: number,
  retryAfterMs?: number,
  more: Pick<AppError['options'], 'queue' | 'mayRetry'> = {},
): AppError {
  const { code, unit, about, advice, retryAfterMs: usual } = BUDGETS[name]
  const size = limit.toLocaleString('en-US')
  return new AppError(
    code!,
    `The budget "${name}" of this account is used up: at most ${size} ${unit} (${about.split(/[,.;]/, 1)[0]!.toLowerCase()}). ${advice} An operator can raise the budget.`,
    {
      retryAfterMs: retryAfterMs ?? usual ?? 60_000,
      mayRetry: retryAfterMs !== undefined || usual !== undefined,
      reason: `budget_${name}`,
      ...more,
    },
  )
}
