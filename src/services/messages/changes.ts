import { messageEvent } from '../../core/events/message-events.js'
import { MissingValue, type Writes } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { refuseAttempts } from '../../storage/messages/attempts.js'
import { type Change, countChanges, saveMessages } from '../../storage/messages/messages.js'

/**
 * Saves changed messages and appends an event for each status they pass. Every transaction locks messages first, then
 * event numbers, then totals, so that two of them cannot deadlock.
 */
export async function saveChanges(sql: Writes, changes: readonly Change[]): Promise<void> {
  const passed = changes.flatMap(({ before, via = [], after }) =>
    [...via, after].filter((message, i, steps) => message.status !== (steps[i - 1] ?? before).status),
  )
  await Promise.all([
    saveMessages(sql, changes),
    refuseAttempts(
      sql,
      changes.flatMap(({ failed }) => failed ?? []),
    ),
    appendEvents(
      sql,
      passed.map((message) => messageEvent('message.updated', message)),
    ),
    countChanges(sql, changes),
  ])
}

/**
 * Runs `cheap`, which writes without reading first. If a message has changed since it was read, runs `thorough`,
 * which locks and reads. Measured through SMPP with receipts: about 40 of 1,340 µs for each message on SQLite. On
 * PostgreSQL it costs as much, but holds no lock over a round trip.
 */
export async function unlessChanged<T>(cheap: () => Promise<T>, thorough: () => Promise<T>): Promise<T> {
  try {
    return await cheap()
  } catch (error) {
    if (error instanceof MissingValue) return thorough()
    throw error
  }
}
