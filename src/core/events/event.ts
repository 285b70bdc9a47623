import { type Group, handlesOf } from '../groups/group.js'
import type { Message } from '../messages/message.js'

/** The append-only log's entries. */
export const EVENT_TYPES = [
  'message.created',
  'message.updated',
  'message.received',
  'message.read',
  'message.deleted',
  'line.assigned',
  'line.unassigned',
  'line.status.changed',
  'line.blocked',
  'call.inbound',
  'call.outbound',
  'contact.created',
  'group.created',
  'group.updated',
  'verification.approved',
  'verification.expired',
  'verification.canceled',
  'contact_profile.completed',
  'contact_profile.failed',
  'message.reaction',
  'typing.changed',
  'webhook.removed',
  'conversation.held',
  'conversation.released',
  'world.reset',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

export interface NewEvent {
  accountId: string
  type: EventType
  /**
   * Id of what it is about: of a message, its handle; of somebody who types, their number; of a
   * conversation, the other's number or the group's id.
   */
  subject: string
  /**
   * When it was written down, not earlier: the log is in the order of its times but for transactions that
   * overlap. What happened before we heard of it has its own time in `data`.
   */
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
  if (message.run !== null) data.run = message.run
  if (message.error) data.error = message.error
  if (message.sentAt !== message.createdAt) data.sentAt = message.sentAt
  return { accountId: message.accountId, type, subject: message.handle, at: message.updatedAt, data }
}

/** An event about a group holds all of it that may change. */
export function groupEvent(type: 'group.created' | 'group.updated', group: Group): NewEvent {
  return {
    accountId: group.accountId,
    type,
    subject: group.id,
    at: group.updatedAt,
    data: { name: group.name, photoUrl: group.photo?.url ?? null, members: handlesOf(group) },
  }
}
