import type { Service } from '../../core/messages/message.js'
import type { Columns, Sql, Writes } from '../engine/db.js'
import { hasChanged, listValues } from '../engine/query.js'
import { table } from '../engine/table.js'

type AttemptState = 'on_wire' | 'accepted' | 'refused' | 'never_left' | 'unknown' | 'given_up'

/** One attempt to send a message. `ref` is a random id of ours that a carrier may return. */
export interface Attempt {
  ref: string
  messageId: number
  n: number
  lineId: string
  epoch: number
  service: Service
  state: AttemptState
  wireAt: number
  endedAt: number | null
  providerId: string | null
  /** Number of lookups at the carrier. */
  lookups: number
  code: string | null
  detail: string | null
}

const ATTEMPTS = table<Attempt>()('attempts', {
  text: 'ref lineId service state providerId code detail',
  number: 'messageId n epoch wireAt endedAt lookups',
})

/**
 * An attempt starts only if the line's lease has this epoch and the message waits for attempt n. Both are
 * conditions of the insert, which otherwise fails with MissingValue.
 */
const COLUMNS = {
  ref: 'text',
  message_id: {
    type: 'bigint',
    as: '(select m.id from messages m where m.id = {message_id} and m.next_action_at is not null and m.attempts + 1 = {n})',
  },
  n: 'bigint',
  line_id: 'text',
  epoch: {
    type: 'bigint',
    as: '(select x.epoch from line_leases x where x.line_id = {line_id} and x.epoch = {epoch})',
  },
  service: 'text',
  state: 'text',
  wire_at: 'bigint',
  lookups: 'bigint',
} as const satisfies Columns

export async function insertAttempts(sql: Writes, attempts: readonly Attempt[]): Promise<void> {
  await sql.insertMany(
    'attempts',
    COLUMNS,
    attempts.map((a) => [
      a.ref,
      a.messageId,
      a.n,
      a.lineId,
      a.epoch,
      a.service,
      a.state,
      a.wireAt,
      a.lookups,
    ]),
  )
}

export type EndedAttempt = Pick<Attempt, 'ref' | 'state' | 'endedAt' | 'providerId' | 'code' | 'detail'>

const ENDED = {
  state: 'text',
  ended_at: 'bigint',
  provider_id: 'text',
  code: 'text',
  detail: 'text',
} as const satisfies Columns

/**
 * Ends open attempts. The guard is the fence: a worker that lost its lease finds its attempt already ended and
 * writes nothing. In a conversation, returns which attempts it ended.
 */
export async function endAttempts<S extends Writes>(
  sql: S,
  ended: readonly EndedAttempt[],
): Promise<boolean[]> {
  return (await sql.updateMany(
    'attempts',
    { ref: 'text' },
    ENDED,
    ended.map((a) => [a.ref, a.state, a.endedAt, a.providerId, a.code, a.detail]),
    "attempts.state in ('on_wire', 'unknown')",
  )) as boolean[]
}

export type FailedAttempt = Omit<EndedAttempt, 'state'>

/** Marks attempts as refused that the carrier accepted, or may have accepted, and could not deliver. */
export async function refuseAttempts(sql: Writes, failed: readonly FailedAttempt[]): Promise<void> {
  await sql.updateMany(
    'attempts',
    { ref: 'text' },
    ENDED,
    failed.map((a) => [a.ref, 'refused', a.endedAt, a.providerId, a.code, a.detail]),
    "attempts.state in ('on_wire', 'unknown', 'accepted')",
  )
}

/** Gives the carrier's id to attempts that were given up before the carrier named them. */
export async function nameGivenUp(
  sql: Writes,
  named: readonly Pick<Attempt, 'ref' | 'providerId'>[],
): Promise<void> {
  await sql.updateMany(
    'attempts',
    { ref: 'text' },
    { provider_id: 'text' },
    named.map(({ ref, providerId }) => [ref, providerId]),
    "attempts.state = 'given_up' and attempts.provider_id is null",
  )
}

export async function countLookup(sql: Sql, ref: string): Promise<void> {
  await sql.run('update attempts set lookups = lookups + 1 where ref = $1', [ref])
}

export function findAttempt(sql: Sql, messageId: number, n: number): Promise<Attempt | undefined> {
  return ATTEMPTS.find(sql, 'message_id = $1 and n = $2', [messageId, n])
}

/** The next attempts of these messages, where they exist already. */
export async function findNextAttempts(
  sql: Sql,
  messages: readonly { id: number; attempts: number }[],
): Promise<Map<number, Attempt>> {
  const next = new Map(messages.map(({ id, attempts }) => [id, attempts + 1]))
  const list = sql.inIds(1, [...next.keys()])
  const attempts = await ATTEMPTS.list(sql, `message_id ${list.sql}`, [list.param])
  const found = attempts.filter(({ messageId, n }) => next.get(messageId) === n)
  return new Map(found.map((attempt) => [attempt.messageId, attempt]))
}

export function listAttempts(sql: Sql, messageId: number): Promise<Attempt[]> {
  return ATTEMPTS.list(sql, 'message_id = $1 order by n', [messageId])
}

export async function findAttemptsByProvider(
  sql: Sql,
  lineId: string,
  providerIds: readonly string[],
): Promise<Map<string, Attempt>> {
  if (providerIds.length === 0) return new Map()
  const list = sql.inList(2, providerIds)
  // If two share an id, the later one counts.
  const where = `line_id = $1 and provider_id ${list.sql} order by ref`
  const attempts = await ATTEMPTS.list(sql, where, [lineId, list.param])
  return new Map(attempts.map((attempt) => [attempt.providerId!, attempt]))
}

export async function findAttemptsByRef(sql: Sql, refs: readonly string[]): Promise<Map<string, Attempt>> {
  if (refs.length === 0) return new Map()
  const list = sql.inList(1, refs)
  const attempts = await ATTEMPTS.list(sql, `ref ${list.sql}`, [list.param])
  return new Map(attempts.map((attempt) => [attempt.ref, attempt]))
}

/** Attempts that an earlier holder of the line left open, and those with these refs: their outcome is unknown. */
export function listOpenAttempts(
  sql: Sql,
  lineId: string,
  beforeEpoch: number,
  refs: readonly string[],
): Promise<Attempt[]> {
  const list = sql.inList(3, refs)
  return ATTEMPTS.all(
    sql,
    `select a.* from messages m join attempts a on a.message_id = m.id and a.n = m.attempts + 1
     where m.line_id = $1 and m.next_action_at is not null and m.due_at is null and a.state = 'on_wire'
     and (a.epoch < $2 or a.ref ${list.sql})`,
    [lineId, beforeEpoch, list.param],
  )
}

/** Returns whether the read receipt is new. */
export function saveRead(sql: Sql, ref: string, at: number): Promise<boolean> {
  return hasChanged(sql, 'update attempts set read_at = $2 where ref = $1 and read_at is null', [ref, at])
}

/**
 * Times of the line's recent attempts, so that a new holder keeps the line's pace. Refs are ordered by time. A clock
 * that was ahead has left later ones.
 */
export function listWireTimes(sql: Sql, lineId: string, sinceRef: string, untilRef = '~'): Promise<number[]> {
  const text = 'select wire_at from attempts where ref >= $1 and ref < $3 and line_id = $2'
  return listValues(sql, text, [sinceRef, lineId, untilRef])
}
