import type { Message } from './message.js'

/** The append-only log's entries. */
export const EVENT_TYPES = [
  'message.created',
  'message.updated',
  'message.received',
  'message.read',
  'line.assigned',
  'line.unassigned',
  'line.status.changed',
  'call.inbound',
  'message.deleted',
  'contact_profile.completed',
  'contact_profile.failed',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

export interface NewEvent {
  accountId: string
  type: EventType
  /** Id of what it is about: of a message, its handle. */
  subject: string
  at: number
  data: Record<string, unknown>
}

export interface Event extends NewEvent {
  /** Per account, from 1, without a gap, in commit order. */
  seq: number
}

/**
 * An event about a message holds the part of it that may change, as it was at that moment. What never changes
 * is read from the message itself, so a text lives in one place only and is gone when it is erased there.
 */
export function messageEvent(type: EventType, message: Omit<Message, 'id'>): NewEvent {
  const data: Record<string, unknown> = { status: message.status, service: message.service }
  if (message.wasDowngraded !== null) data.wasDowngraded = message.wasDowngraded
  if (message.error) data.error = message.error
  if (message.sentAt !== message.createdAt) data.sentAt = message.sentAt
  return { accountId: message.accountId, type, subject: message.handle, at: message.updatedAt, data }
}
