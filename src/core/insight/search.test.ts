import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../errors.js'
import type { Message } from '../messages/message.js'
import { parseSearch, type Search } from './search.js'
import { matches } from './search-match.js'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')

describe('reading a search', () => {
  const not = false
  const cases: [string, Partial<Search>][] = [
    ['', { terms: [] }],
    ['   ', { terms: [] }],
    ['hello', { terms: [{ not, by: 'text', text: 'hello' }] }],
    [
      '"Your Code" 12:30',
      {
        terms: [
          { not, by: 'text', text: 'your code' },
          { not, by: 'text', text: '12:30' },
        ],
      },
    ],
    ['text:"a b"', { terms: [{ not, by: 'text', text: 'a b' }] }],
    [
      'to:+1 (202) 555',
      {
        terms: [
          { not, by: 'to', number: '+1' },
          { not, by: 'text', text: '(202)' },
          { not, by: 'text', text: '555' },
        ],
      },
    ],
    ['to:"+1 (202) 555"', { terms: [{ not, by: 'to', number: '+1202555' }] }],
    ['from:+12025550101', { terms: [{ not, by: 'from', number: '+12025550101' }] }],
    ['with:0101', { terms: [{ not, by: 'with', number: '0101' }] }],
    ['from:Ann@Example.com', { terms: [{ not, by: 'from', number: 'ann@example.com' }] }],
    ['line:+12025550100', { terms: [{ not, by: 'line', number: '+12025550100' }] }],
    ['group:abc', { terms: [{ not, by: 'group', group: 'abc' }] }],
    ['IS:Failed', { terms: [{ not, by: 'status', statuses: ['ERROR', 'DECLINED'] }] }],
    ['is:inbound', { terms: [{ not, by: 'direction', outbound: false }] }],
    ['-is:delivered', { terms: [{ not: true, by: 'status', statuses: ['DELIVERED', 'SUCCESS'] }] }],
    ['!has:media', { terms: [{ not: true, by: 'has', what: 'media' }] }],
    [
      '- a',
      {
        terms: [
          { not, by: 'text', text: '-' },
          { not, by: 'text', text: 'a' },
        ],
      },
    ],
    ['service:sms', { terms: [{ not, by: 'service', service: 'SMS' }] }],
    ['after:10m', { terms: [], from: NOW - 600_000 }],
    ['after:2h before:30m', { terms: [], from: NOW - 7_200_000, to: NOW - 1_800_000 }],
    ['after:1d after:2h', { terms: [], from: NOW - 7_200_000 }],
    ['before:2026-01-31', { terms: [], to: Date.parse('2026-01-31T00:00:00Z') }],
  ]
  it.each(cases)('%j', (query, search) => {
    expect(parseSearch(query, NOW)).toEqual(search)
  })

  const faults: [string, RegExp][] = [
    ['text:"never', /This quotation mark is never closed \(at character 6\)/],
    ['a "b', /This quotation mark .*at character 3\)/],
    ['hello to:', /to: needs a value .* such as to:\+1202.*at character 7\)/],
    ['is:""', /is: needs a value .*at character 1\)/],
    ['is:lost', /Unknown value "lost" for is:\. Use failed, .*at character 1\)/],
    ['is:constructor', /Unknown value "constructor" for is:/],
    [
      'x service:fax',
      /Unknown value "fax" for service:\. Use iMessage, RCS, WhatsApp, SMS \(at character 3\)/,
    ],
    ['has:wings', /Unknown value "wings" for has:\. Use media/],
    ['to:bob', /to: takes a number/],
    ['after:soon', /after: takes an age such as 10m/],
    ['before:2026-02-30', /before: takes an age/],
    ['-after:10m', /use before: instead/],
    ['https://example.com', /Unknown filter https:.*quotation marks/],
    [Array(21).fill('a').join(' '), /at most 20/],
  ]
  it.each(faults)('refuses %j and says where', (query, words) => {
    expect(() => parseSearch(query, NOW)).toThrow(words)
  })

  it('reads or refuses anything, and never fails otherwise', () => {
    const pieces = fc.constantFrom(
      'to:',
      'is:',
      '"',
      '-',
      '!',
      ' ',
      ':',
      'after:',
      '10m',
      '+1',
      'failed',
      'x',
      '\u{1F600}',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(pieces).map((all) => all.join('')),
        ),
        (query) => {
          try {
            parseSearch(query, NOW)
          } catch (error) {
            expect(error).toBeInstanceOf(AppError)
          }
        },
      ),
    )
  })
})

describe('what matches', () => {
  const message = {
    isOutbound: true,
    lineNumber: '+12025550100',
    contact: '+12025550101',
    groupId: null,
    status: 'DELIVERED',
    service: 'iMessage',
    wasDowngraded: null,
    content: 'Your Code is 123456',
    mediaUrl: '',
    sendStyle: '',
    replyTo: null,
    extra: null,
    error: null,
    createdAt: NOW - 60_000,
  } as unknown as Message
  const inbound = { ...message, isOutbound: false, status: 'RECEIVED' } as Message
  const failed = {
    ...message,
    status: 'ERROR',
    error: { code: 10001, message: 'Refused', reason: 'refused', detail: '30003: Unreachable' },
  } as Message
  const toGroup = { ...message, groupId: 'g1', contact: 'g1' } as Message
  const cases: [string, Message, boolean][] = [
    ['', message, true],
    ['code 1234', message, true],
    ['code nothing', message, false],
    ['-nothing', message, true],
    ['to:+1202', message, true],
    ['to:0101', message, true],
    ['to:+1303', message, false],
    ['from:+12025550100', message, true],
    ['to:+12025550100', message, false],
    ['to:+12025550100', inbound, true],
    ['from:+12025550101', inbound, true],
    ['line:0100', inbound, true],
    ['is:inbound', inbound, true],
    ['is:inbound', message, false],
    ['is:failed', failed, true],
    ['unreachable', failed, true],
    ['has:error', failed, true],
    ['is:delivered service:imessage', message, true],
    ['-is:delivered', message, false],
    ['has:media', message, false],
    ['after:10m', message, true],
    ['before:10m', message, false],
    ['group:g1', toGroup, true],
    ['group:g2', toGroup, false],
  ]
  it.each(cases)('%j', (query, one, expected) => {
    expect(matches(parseSearch(query, NOW), one)).toBe(expected)
  })
})
