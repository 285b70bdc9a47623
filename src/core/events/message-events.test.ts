import { describe, expect, it } from 'vitest'
import type { Message } from '../messages/message.js'
import { messageAt, messageEvent, readEvent } from './message-events.js'

const AT = Date.parse('2026-03-01T12:00:00.000Z')
const QUEUED = {
  accountId: 'a',
  handle: 'H',
  status: 'QUEUED',
  service: 'iMessage',
  wasDowngraded: null,
  error: null,
  createdAt: AT - 5,
  sentAt: AT - 5,
  updatedAt: AT,
  content: 'text',
} as Message
const NOW: Message = { ...QUEUED, status: 'DELIVERED', service: 'SMS', wasDowngraded: true, sentAt: AT }

describe('a message at the moment of an event', () => {
  it('has the part that changes from the event and the rest from the message', () => {
    const event = { ...messageEvent('message.created', QUEUED), seq: 1 }
    expect(event.data).toEqual({ status: 'QUEUED', service: 'iMessage' })
    expect(messageAt(event, { ...NOW, content: '', updatedAt: AT + 9 })).toEqual({ ...QUEUED, content: '' })
  })

  it('keeps an error, a downgrade and a send time of its own', () => {
    const error = { code: 10001, message: 'It failed', reason: 'refused', detail: null }
    const then = { ...NOW, status: 'ERROR', error } as Message
    const event = { ...messageEvent('message.updated', then), seq: 2 }
    expect(messageAt(event, QUEUED)).toEqual(then)
  })

  it('is the message itself when the event does not change it', () => {
    const event = { ...readEvent(NOW, AT, AT + 1), seq: 3 }
    expect(messageAt(event, NOW)).toBe(NOW)
  })
})
