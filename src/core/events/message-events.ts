import type { Message } from '../messages/message.js'
import type { Event, EventType, MessageState, NewEvent } from './event.js'

type MessageEventType = Extract<EventType, `message.${string}`>
type StateEventType = 'message.created' | 'message.updated' | 'message.received'

/** An event whose subject is a message's handle. */
export type MessageEvent = Event<MessageEventType>

export function isAboutMessage(event: Event): event is MessageEvent {
  return event.type.startsWith('message.')
}

/** An event that holds the state of a new or changed message. `messageAt` reads it. */
export function messageEvent(type: StateEventType, message: Omit<Message, 'id'>): NewEvent<StateEventType> {
  const data: MessageState = { status: message.status, service: message.service }
  if (message.wasDowngraded !== null) data.wasDowngraded = message.wasDowngraded
  if (message.error) data.error = message.error
  if (message.sentAt !== message.createdAt) data.sentAt = message.sentAt
  return { accountId: message.accountId, type, subject: message.handle, at: message.updatedAt, data }
}

export function readEvent(message: Message, readAt: number, at: number): NewEvent<'message.read'> {
  return { accountId: message.accountId, type: 'message.read', subject: message.handle, at, data: { readAt } }
}

export function deletedEvent(message: Message, at: number): NewEvent<'message.deleted'> {
  return { accountId: message.accountId, type: 'message.deleted', subject: message.handle, at, data: {} }
}

/** A message as it was at the moment of an event. Events without a state leave the message as it is. */
export function messageAt<M extends Omit<Message, 'id'>>({ at, data }: MessageEvent, message: M): M {
  if (!('status' in data)) return message
  return {
    ...message,
    status: data.status,
    service: data.service,
    wasDowngraded: data.wasDowngraded ?? null,
    error: data.error ?? null,
    sentAt: data.sentAt ?? message.createdAt,
    updatedAt: at,
  }
}
