import type { Db } from '../../../src/storage/engine/db.js'
import { appendEvents } from '../../../src/storage/events/events.js'
import { countMessages, insertMessages } from '../../../src/storage/messages/messages.js'
import { LINE, START } from '../../support/world.js'

/** A line that has a past without having done anything: rows written into the database directly. */
interface Owner {
  id: string
  accountId: string
  number: string
}

const AT_ONCE = 1000

export async function findOwner(db: Db, number: string = LINE): Promise<Owner> {
  const text = "select id, account_id from lines where number = $1 and network = 'live'"
  const { id, account_id: accountId } = (await db.one<{ id: string; account_id: string }>(text, [number]))!
  return { id, accountId, number }
}

/** Delivered messages of 1,400 characters, to 10,000 people in turn. */
export async function insertPast(db: Db, owner: Owner, count: number): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const batch = Array.from({ length: AT_ONCE }, (_, i) => message(owner, from + i, count))
    await db.write((sql) => Promise.all([insertMessages(sql, batch), countMessages(sql, batch)]))
  }
}

/** Events of the line, each with its number as `detail`, followed by `more`. */
export async function insertEvents(
  db: Db,
  { accountId, id, number }: Owner,
  count: number,
  more = '',
): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const events = Array.from({ length: AT_ONCE }, (_, i) => ({
      accountId,
      type: 'line.status.changed',
      subject: id,
      at: START,
      data: { number, status: 'online', statusChangedAt: START, detail: `${from + i}${more}` },
    }))
    await db.write((sql) => appendEvents(sql, events as never))
  }
}

function message({ id: lineId, accountId, number: lineNumber }: Owner, i: number, count: number) {
  const at = START - (count - i) * 1000
  return {
    handle: `past-${lineNumber}-${String(i).padStart(8, '0')}`,
    accountId,
    lineId,
    lineNumber,
    contact: `+1202555${String(i % 10_000).padStart(4, '0')}`,
    groupId: null,
    isOutbound: true,
    type: 'message',
    status: 'DELIVERED',
    service: 'iMessage',
    wasDowngraded: null,
    content: `Message ${i} ${'of some length '.repeat(100)}`,
    mediaUrl: '',
    sendStyle: '',
    statusCallback: null,
    replyTo: null,
    seatId: null,
    senderEmail: null,
    optedOut: false,
    error: null,
    createdAt: at,
    updatedAt: at + 5,
    sentAt: at + 2,
    nextActionAt: null,
    attempts: 1,
    version: 0,
    providerId: null,
  } as never
}
