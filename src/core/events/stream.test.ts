import { describe, expect, it } from 'vitest'
import { EVENT_TYPES, type Event, type EventType } from './event.js'
import { eventId, STREAM_TYPES } from './stream.js'

const AT = Date.parse('2026-03-01T12:00:00.000Z')
const event = (type: EventType, subject: string, data: object): Event =>
  ({ accountId: 'a', seq: 7, type, subject, at: AT, data }) as Event

describe('the id of an event', () => {
  it.each<[EventType, string, object, string]>([
    ['message.received', 'H', {}, 'message:H:received'],
    ['message.created', 'H', {}, 'message:H:created'],
    ['message.updated', 'H', {}, 'message:H:updated:2026-03-01T12:00:00.000Z'],
    ['message.deleted', 'H', {}, 'message:H:deleted'],
    ['contact.created', 'C', {}, 'contact:C:created:2026-03-01T12:00:00.000Z'],
    [
      'line.status.changed',
      'L',
      { status: 'OFFLINE', statusChangedAt: AT },
      'line:L:status:OFFLINE:2026-03-01T12:00:00.000Z',
    ],
    ['verification.approved', 'VR1', {}, 'verification:VR1:approved'],
    ['verification.canceled', 'VR1', {}, 'verification:VR1:canceled'],
    ['typing.changed', '+12025550101', {}, 'typing:+12025550101:changed:7'],
    ['line.assigned', 'L', {}, 'line:L:assigned:7'],
    ['group.updated', 'G', {}, 'group:G:updated:7'],
    ['message.read', 'H', {}, 'message:H:read:7'],
  ])('%s of %s', (type, subject, data, id) => {
    expect(eventId(event(type, subject, data), [])).toBe(id)
  })

  it('names the incarnation in which its number was given, unless it is the first', () => {
    const life = (n: number, id: string, eventBase: number) => ({ n, id, reason: '', begunAt: 0, eventBase })
    const lives = [life(1, '', 0), life(2, 'ab12', 6), life(3, 'cd34', 7)]
    expect(eventId(event('message.read', 'H', {}), lives)).toBe('message:H:read:ab12_7')
    expect(eventId({ ...event('message.read', 'H', {}), seq: 6 }, lives)).toBe('message:H:read:6')
    expect(eventId({ ...event('message.read', 'H', {}), seq: 8 }, lives)).toBe('message:H:read:cd34_8')
  })

  it('is one of its own for every type', () => {
    const data = { status: 'ONLINE', statusChangedAt: AT }
    const ids = EVENT_TYPES.map((type) => eventId(event(type, 'X', data), []))
    expect(new Set(ids).size).toBe(EVENT_TYPES.length)
    expect(STREAM_TYPES).toHaveLength(12)
  })
})
