import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { forwardingNumber, toForwardingNumber } from './forwarding.js'

describe('who is rung', () => {
  const [seat, line, company] = ['+12025550111', '+12025550112', '+12025550113']
  it.each([
    [{ seat, line, company }, seat],
    [{ seat: null, line, company }, line],
    [{ seat: null, line: null, company }, company],
    [{ seat, line: null, company: null }, seat],
    [{ seat: null, line, company: null }, line],
    [{ seat: null, line: null, company: null }, null],
  ])('%j: %s', (numbers, rung) => {
    expect(forwardingNumber(numbers)).toBe(rung)
  })
})

describe('a number to forward to', () => {
  it('is E.164 or nothing, whatever is given, and stays itself', () => {
    const text = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[+]?[\d ().-]{1,18}$/),
      fc.stringMatching(/^\+1[2-9]\d{9}$/),
    )
    fc.assert(
      fc.property(text, (given) => {
        const result = toForwardingNumber(given)
        if ('fault' in result) return result.fault.length > 0
        return (
          /^\+[1-9]\d{6,14}$/.test(result.number) &&
          JSON.stringify(toForwardingNumber(result.number)) === JSON.stringify(result)
        )
      }),
    )
  })

  it.each(['911', '+1911', '1-911', '112', '+44 999', '9115550100', '+1 411 555 0100', '000'])(
    'is not the emergency number %j',
    (given) => {
      expect(toForwardingNumber(given)).toEqual({ fault: 'must not be an emergency number' })
    },
  )

  it('may have the digits of one inside', () => {
    expect(toForwardingNumber('+12029115511')).toEqual({ number: '+12029115511' })
    expect(toForwardingNumber('+441129110112')).toEqual({ number: '+441129110112' })
  })
})
