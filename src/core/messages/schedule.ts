import { MESSAGE_ERROR } from '../errors.js'
import type { Message } from './message.js'

/** The rules of scheduled messages. */

const DAYS_AHEAD = 366
/** A send time this close to now is sent immediately. */
const SOON_MS = 1000

/** The fault of a send time, or undefined. */
export function sendAtFault(sendAt: number, now: number): string | undefined {
  if (sendAt < now)
    return 'must not be in the past; leave it out to send now, or check the zone (Z or an offset)'
  if (sendAt > now + DAYS_AHEAD * 86_400_000) return `must be at most ${DAYS_AHEAD} days ahead`
  return undefined
}

/** Until when a scheduled message waits; null if it goes now. */
export function waitUntil(sendAt: number, now: number): number | null {
  return sendAt > now + SOON_MS ? sendAt : null
}

/** Cancels a scheduled message. */
export function cancelMessage(message: Message, now: number): Message {
  return {
    ...message,
    status: 'DECLINED',
    error: {
      code: MESSAGE_ERROR.failed,
      message: 'The message was canceled before it was due',
      reason: 'canceled',
      detail: null,
    },
    updatedAt: Math.max(now, message.updatedAt + 1),
    nextActionAt: null,
    dueAt: null,
  }
}

/** Queues a message whose time has come; in a held conversation it keeps waiting. */
export function queueScheduled(message: Message, heldUntil: number | undefined, now: number): Message {
  if (heldUntil !== undefined) return { ...message, nextActionAt: heldUntil, dueAt: null }
  const updatedAt = Math.max(now, message.updatedAt + 1)
  return { ...message, status: 'QUEUED', updatedAt, nextActionAt: now, dueAt: null }
}
