import { describe, expect, it } from 'vitest'
import type { NewDelivery } from '../../storage/webhooks/deliveries.js'
import { createFreshDeliveries } from './fresh-deliveries.js'

const delivery = (eventSeq: number, accountId = 'a', lane = 'lane'): NewDelivery => ({
  accountId,
  lane,
  endpointId: null,
  type: 'status_callback',
  url: 'https://example.com',
  eventSeq,
  eventType: 'message.updated',
  subject: 'H',
  body: '{}',
  nextAt: 0,
  createdAt: 0,
})

describe('deliveries that were just written', () => {
  it('are handed out once, to their own lane', () => {
    const fresh = createFreshDeliveries()
    fresh.add([delivery(1), delivery(1, 'a', 'other')], fresh.mark())
    expect(fresh.take('nobody', '1')).toBeUndefined()
    expect(fresh.take('lane', '1')).toEqual(delivery(1))
    expect(fresh.take('lane', '1')).toBeUndefined()
    expect(fresh.take('other', '1')).toEqual(delivery(1, 'a', 'other'))
  })

  it('are forgotten when something of their account is deleted, also while they are being written', () => {
    const fresh = createFreshDeliveries()
    const before = fresh.mark()
    fresh.add([delivery(1), delivery(2, 'b')], before)
    fresh.forget('a')
    expect(fresh.take('lane', '1')).toBeUndefined()
    expect(fresh.take('lane', '2')).toEqual(delivery(2, 'b'))
    fresh.add([delivery(3)], before)
    expect(fresh.take('lane', '3')).toBeUndefined()
    fresh.add([delivery(4)], fresh.mark())
    expect(fresh.take('lane', '4')).toEqual(delivery(4))
  })

  it('count for seconds, and only so many are kept', () => {
    let now = 0
    const fresh = createFreshDeliveries(() => now)
    fresh.add([delivery(1), delivery(2)], fresh.mark())
    now = 1999
    expect(fresh.take('lane', '1')).toEqual(delivery(1))
    now = 2000
    expect(fresh.take('lane', '2')).toBeUndefined()
    fresh.add(
      Array.from({ length: 5001 }, (_, n) => delivery(10 + n)),
      fresh.mark(),
    )
    expect(fresh.take('lane', '10')).toBeUndefined()
    expect(fresh.take('lane', '11')).toEqual(delivery(11))
  })
})
