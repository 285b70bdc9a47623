import { describe, expect, it } from 'vitest'
import { readTraceparent, spanIdOf, traceOf, traceparentOf } from './context.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

describe('readTraceparent', () => {
  it('takes version 00, and the known fields of later versions', () => {
    expect(readTraceparent(`00-${TRACE}-${SPAN}-01`)).toBe(`00-${TRACE}-${SPAN}-01`)
    expect(readTraceparent(`cc-${TRACE}-${SPAN}-01-more`)).toBe(`00-${TRACE}-${SPAN}-01`)
  })

  it.each([
    ['nothing', undefined],
    ['two headers', ['a', 'b']],
    ['a forbidden version', `ff-${TRACE}-${SPAN}-01`],
    ['version 00 with more', `00-${TRACE}-${SPAN}-01-more`],
    ['capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a long one', `cc-${TRACE}-${SPAN}-01-${'x'.repeat(1000)}`],
  ])('refuses %s', (_what, header) => expect(readTraceparent(header)).toBeNull())
})

describe('traceOf', () => {
  const handle = 'A1B2C3D4-0000-4000-8000-0000FFFFFFFF'

  it("follows the caller's trace and decision", () => {
    const of = (flags: string) => traceOf({ handle, trace: `00-${TRACE}-${SPAN}-${flags}` }, 0)
    expect(of('01')).toEqual({ traceId: TRACE, callerId: SPAN, isSampled: true })
    expect(of('02').isSampled).toBe(false)
  })

  it('is the handle without one, or a hash of a handle in another form', () => {
    expect(traceOf({ handle, trace: null }, 1).traceId).toBe('a1b2c3d4000040008000' + '0000ffffffff')
    expect(traceOf({ handle: 'SM_7', trace: null }, 1).traceId).toMatch(/^[0-9a-f]{32}$/)
  })

  it('is exported for the given share of handles', () => {
    const sampled = (ratio: number) =>
      Array.from({ length: 1000 }, (_, i) => traceOf({ handle: `message ${i}`, trace: null }, ratio)).filter(
        ({ isSampled }) => isSampled,
      ).length
    expect([sampled(0), sampled(1)]).toEqual([0, 1000])
    expect(sampled(0.1)).toBeGreaterThan(60)
    expect(sampled(0.1)).toBeLessThan(140)
  })
})

it('names the same span in every process, and another one for another thing', () => {
  expect(spanIdOf('a', 1)).toBe(spanIdOf('a', 1))
  expect(spanIdOf('a', 1)).not.toBe(spanIdOf('a', 2))
  const context = { traceId: TRACE, callerId: null, isSampled: false }
  expect(readTraceparent(traceparentOf(context, spanIdOf('a')))).not.toBeNull()
})
