import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatTime, parseBound, parseTime } from './time.js'

describe('parseTime', () => {
  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31t09:30:00z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31 09:30:00Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30:00.5Z', '2026-01-31T09:30:00.500Z'],
    ['2026-01-31T09:30:00.123456789Z', '2026-01-31T09:30:00.123Z'],
    ['2026-01-31T09:30:00+05:30', '2026-01-31T04:00:00.000Z'],
    ['2026-01-31T09:30:00+0530', '2026-01-31T04:00:00.000Z'],
    ['2026-01-31T09:30:00 05:30', '2026-01-31T04:00:00.000Z'],
    ['2026-01-31T09:30:00-08:00', '2026-01-31T17:30:00.000Z'],
    ['2026-01-01T00:00:00+14:00', '2025-12-31T10:00:00.000Z'],
    ['2026-12-31T23:59:59.999-12:00', '2027-01-01T11:59:59.999Z'],
    ['2026-01-31T09:30:00', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30:00.123456', '2026-01-31T09:30:00.123Z'],
    ['2026-01-31 09:30:00', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31 09:30', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30 05:30', '2026-01-31T04:00:00.000Z'],
    ['2026-01-31T09:30:00.123456 05:30', '2026-01-31T04:00:00.123Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29', '2000-02-29T00:00:00.000Z'],
    ['1970-01-01', '1970-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('reads %s', (text, iso) => {
    expect(parseTime(text)).toBe(Date.parse(iso))
  })

  it.each([
    '',
    'now',
    '0',
    '1767225600000',
    '2026',
    '2026-01',
    '2026-1-5',
    '2026-00-10',
    '2026-13-10',
    '2026-99-10',
    '2026-01-00',
    '2026-01-32',
    '2026-02-29',
    '2026-02-30',
    '2026-04-31',
    '2100-02-29',
    '1969-12-31',
    '0000-01-01',
    '-001-01-01',
    '+002026-01-01',
    '10000-01-01',
    '2026-01-31 05:30:00 5:30',
    '2026-01-31+05:30',
    '2026-01-31T09Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T09:60:00Z',
    '2016-12-31T23:59:60Z',
    '2026-01-31T09:30:00.Z',
    '2026-01-31T09:30:00.1234567890Z',
    '2026-01-31T09:30:00+15:00',
    '2026-01-31T09:30:00+05:60',
    '2026-01-31T09:30:00+5:30',
    '2026-01-31T09:30:00ZZ',
    '2026-01-31Z',
    ' 2026-01-31',
    '2026-01-31\n',
    '2026-W05-6',
    '２０２６-01-31',
  ])('refuses %j', (text) => {
    expect(parseTime(text)).toBeUndefined()
  })

  const moments = fc.integer({ min: 0, max: Date.parse('9999-12-31T23:59:59.999Z') })

  it('reads back what it writes', () => {
    fc.assert(
      fc.property(moments, (millis) => {
        expect(parseTime(formatTime(millis))).toBe(millis)
      }),
    )
  })

  it('names one moment whatever the offset', () => {
    const offsets = fc.integer({ min: -14 * 60, max: 14 * 60 })
    const inside = fc.integer({ min: 86_400_000, max: Date.parse('9999-12-30T00:00:00Z') })
    fc.assert(
      fc.property(inside, offsets, (millis, offset) => {
        const local = new Date(millis + offset * 60_000).toISOString().slice(0, -1)
        const two = (n: number) => String(n).padStart(2, '0')
        const size = Math.abs(offset)
        const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
        expect(parseTime(local + zone)).toBe(millis)
      }),
    )
  })

  it('reads exactly the days of the calendar', () => {
    const digits = (n: number, width: number) => String(n).padStart(width, '0')
    const dates = fc.tuple(
      fc.integer({ min: 1970, max: 2400 }),
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 0, max: 40 }),
    )
    fc.assert(
      fc.property(dates, ([year, month, day]) => {
        const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
        const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
        const real = days !== undefined && day >= 1 && day <= days
        expect(parseTime(`${year}-${digits(month, 2)}-${digits(day, 2)}`) !== undefined).toBe(real)
      }),
      { numRuns: 3000 },
    )
  })
})

describe('parseBound', () => {
  it.each([
    ['0001-01-01T00:00:00Z', 0],
    ['0099-12-31', 0],
    ['1969-12-31', 0],
    ['1970-01-01T00:00:00+01:00', 0],
    ['1969-12-31T23:30:00-01:00', 1_800_000],
    ['2026-01-31T09:30:00Z', Date.parse('2026-01-31T09:30:00Z')],
  ])('reads %s', (text, time) => {
    expect(parseBound(text)).toBe(time)
  })

  it.each(['0000-01-01', '1900-02-29', '0001-13-01', '-001-01-01', 'now', ''])('refuses %j', (text) => {
    expect(parseBound(text)).toBeUndefined()
  })
})

it('formats alike after another time in between', () => {
  expect([0, 1, 0, 1].map(formatTime)).toEqual([
    '1970-01-01T00:00:00.000Z',
    '1970-01-01T00:00:00.001Z',
    '1970-01-01T00:00:00.000Z',
    '1970-01-01T00:00:00.001Z',
  ])
})
