import { describe, expect, it } from 'vitest'
import { EVENT_TYPES } from '../events/event.js'
import { isWebhookType, WEBHOOK_TYPES, WEBHOOKS, webhookTypeOf } from './types.js'

describe('the table of webhook types', () => {
  it('posts each event under one type at most', () => {
    const events = WEBHOOK_TYPES.flatMap((type) => WEBHOOKS[type].events)
    expect(new Set(events).size).toBe(events.length)
    for (const type of WEBHOOK_TYPES)
      for (const event of WEBHOOKS[type].events) expect(webhookTypeOf(event)).toBe(type)
    const others = EVENT_TYPES.filter((event) => !events.includes(event))
    expect(others.map((event) => webhookTypeOf(event)).filter((type) => type !== undefined)).toEqual([])
  })

  it.each(['', 'message.received', 'toString', '__proto__', 1, null])('does not know %j', (name) => {
    expect(isWebhookType(name)).toBe(false)
  })
})
