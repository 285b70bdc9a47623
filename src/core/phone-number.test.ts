import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toE164, toE164FromUS } from './phone-number.js'

describe('toE164', () => {
  it.each([
    ['+12025550101', '+12025550101'],
    [' 12025550101', '+12025550101'],
    ['+1 (202) 555-0101', '+12025550101'],
    ['+1.202.555.0101', '+12025550101'],
    ['  +12025550101  ', '+12025550101'],
    ['+442071838750', '+442071838750'],
    ['+491711234567', '+491711234567'],
    ['+15551234567', '+15551234567'],
    ['+1202555010', '+1202555010'],
    ['+120255501011', '+120255501011'],
    ['+1234567', '+1234567'],
    ['+123456789012345', '+123456789012345'],
  ])('reads %j', (input, number) => {
    expect(toE164(input)).toBe(number)
  })

  it.each([
    '',
    ' ',
    '+',
    '12025550101',
    '2025550101',
    '(202) 555-0101',
    '0012025550101',
    '+0123456789',
    '+123456',
    '+1202555010112345',
    '+12345678901234567890',
    '+1202555O101',
    '+1-800-FLOWERS',
    '++12025550101',
    '+12025550101,+12025550102',
    '+12025550101;ext=5',
    '+12025550101%',
    "+12025550101' or 1=1",
    '+１２０２５５５０１０１',
    '22395',
    'ada@example.com',
  ])('refuses %j', (input) => {
    expect(toE164(input)).toBeUndefined()
  })

  it('gives what it takes back unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'+0123456789 ().-'), maxLength: 20 }), (input) => {
        const number = toE164(input)
        if (number !== undefined) expect(toE164(number)).toBe(number)
      }),
      { numRuns: 2000 },
    )
  })

  it('does not mind separators, wherever they stand', () => {
    const separated = fc
      .array(fc.constantFrom('', ' ', '-', '.', '(', ')'), { minLength: 11, maxLength: 11 })
      .map((separators) => `+${[...'12025550101'].map((digit, i) => digit + separators[i]).join('')}`)
    fc.assert(
      fc.property(separated, (input) => {
        expect(toE164(input)).toBe('+12025550101')
      }),
    )
  })
})

describe('toE164FromUS', () => {
  it.each([
    ['+12025550101', '+12025550101'],
    ['2025550101', '+12025550101'],
    ['12025550101', '+12025550101'],
    ['(415) 555-2671', '+14155552671'],
    ['415.555.2671', '+14155552671'],
    ['1-415-555-2671', '+14155552671'],
    ['+442071838750', '+442071838750'],
  ])('reads %j', (input, number) => {
    expect(toE164FromUS(input)).toBe(number)
  })

  it.each([
    '',
    '911',
    '5552671',
    '(415) 555-2671 ext. 5',
    '020 7183 8750',
    '(055) 555-2671',
    'call me',
    '4155552671x',
  ])('refuses %j', (input) => {
    expect(toE164FromUS(input)).toBeUndefined()
  })
})
