import { describe, expect, it } from 'vitest'
import { STATUSES } from '../messages/message.js'
import { countSends, OUTCOMES, outcomeOf, percentile, stepAt, stepsOf, WINDOWS } from './overview.js'

const NOW = Date.parse('2026-03-01T12:34:56.789Z')

describe('the steps of a window', () => {
  it.each(Object.keys(WINDOWS) as (keyof typeof WINDOWS)[])('%s ends with the step we are in', (window) => {
    const steps = stepsOf(window, NOW)
    const { span, step } = WINDOWS[window]
    expect(steps).toHaveLength(span / step)
    expect(steps.at(-1)!).toBeLessThanOrEqual(NOW)
    expect(steps.at(-1)! + step).toBeGreaterThan(NOW)
    for (const [i, at] of steps.entries()) {
      expect(stepAt(steps, at)).toBe(i)
      expect(stepAt(steps, at + step - 1)).toBe(i)
    }
    expect(stepAt(steps, steps[0]! - 1)).toBe(-1)
    expect(stepAt(steps, NOW + span)).toBe(steps.length - 1)
  })
})

describe('counting', () => {
  it('every status is one outcome', () => {
    for (const status of STATUSES) expect(OUTCOMES).toContain(outcomeOf(status))
  })

  it('sends by outcome and service, and what came in', () => {
    const steps = stepsOf('1h', NOW)
    const alike = { isOutbound: true, service: 'SMS' as const }
    const counted = [
      { ...alike, at: NOW, status: 'DELIVERED' as const, n: 2 },
      { ...alike, at: NOW, status: 'ERROR' as const, n: 1 },
      { ...alike, at: steps[0]!, status: 'QUEUED' as const, n: 4 },
      { ...alike, at: steps[0]! - 1, status: 'QUEUED' as const, n: 99 },
      { at: NOW, isOutbound: false, status: 'RECEIVED' as const, service: 'iMessage' as const, n: 3 },
    ]
    const filled = countSends(steps, counted)
    expect(filled.at(-1)).toEqual({
      at: steps.at(-1),
      outcomes: { delivered: 2, sent: 0, waiting: 0, failed: 1 },
      services: { iMessage: 0, RCS: 0, WhatsApp: 0, SMS: 3 },
      received: 3,
    })
    expect(filled[0]).toMatchObject({ outcomes: { waiting: 4 } })
  })

  it.each([
    [[], 0.5, null],
    [[7], 0.95, 7],
    [[3, 1, 2], 0.5, 2],
    [[4, 3, 2, 1], 0.5, 2],
    [Array.from({ length: 100 }, (_, i) => i + 1), 0.95, 95],
  ] as const)('%# percentiles', (values, part, expected) => {
    expect(percentile(values, part)).toBe(expected)
  })
})
