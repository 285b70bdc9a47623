import { describe, expect, it } from 'vitest'
import { TAG } from '../../../src/drivers/smpp/codec/commands.js'
import { possibleIds } from '../../../src/drivers/smpp/codec/message-id.js'
import type { Pdu } from '../../../src/drivers/smpp/codec/pdu.js'
import { patternReader } from '../../../src/drivers/smpp/codec/receipt-pattern.js'
import { reportIn } from '../../../src/drivers/smpp/codec/receipt-text.js'
import { meaningOf } from '../../../src/drivers/smpp/codec/status.js'

describe('receipts', () => {
  const pdu = (fields: Partial<Pdu> = {}): Pdu => ({
    command: 'deliver_sm',
    status: 0,
    sequence: 1,
    esmClass: 4,
    ...fields,
  })
  const TAKEN = Date.UTC(2026, 10, 15, 10, 29)

  it.each([
    [
      'id:0123ab sub:001 dlvrd:001 submit date:2611151029 done date:2611151030 stat:DELIVRD err:000 text:Hello',
      { id: '0123ab', status: 'DELIVERED', code: '000', submittedAt: TAKEN, text: 'Hello' },
    ],
    [
      'id:7 stat:UNDELIV err:27 submit date:261115102900',
      { id: '7', status: 'ERROR', code: '27', submittedAt: TAKEN },
    ],
    ['ID:7 Stat:expired ERR:1 Text:stat:DELIVRD', { id: '7', status: 'ERROR', code: '1' }],
    ['stat:ACCEPTD id:9', { id: '9', status: 'SENT' }],
    ['id:9 stat:UNKNOWN', { id: '9', status: undefined }],
    ['id:c0ffee00-1111-4222-8333-444455556666 stat:REJECTD err:69', { status: 'ERROR', code: '69' }],
    ['id:5,sub:001,dlvrd:001,stat:DELIVRD,err:000', { id: '5', status: 'DELIVERED' }],
  ])('%s', (text, report) => {
    expect(reportIn(pdu(), text)).toMatchObject(report)
  })

  it('optional parameters win over the text', () => {
    const tlvs = new Map([
      [TAG.receiptedMessageId, Buffer.from('REAL\0')],
      [TAG.messageState, Buffer.from([5])],
      [TAG.networkErrorCode, Buffer.from([3, 0, 42])],
    ])
    expect(reportIn(pdu({ tlvs }), 'id:other stat:DELIVRD err:000')).toMatchObject({
      id: 'REAL',
      status: 'ERROR',
      code: '42',
    })
  })

  it('does not take a text that looks like a receipt for one', () => {
    expect(reportIn(pdu({ esmClass: 0 }), 'id:7 stat:DELIVRD')).toBeUndefined()
    expect(reportIn(pdu({ esmClass: 0x40 }), 'id:7 stat:DELIVRD')).toBeUndefined()
  })

  it('does not take a notification without information for a message', () => {
    expect(reportIn(pdu(), 'nothing to read here')).toBe('nothing')
    for (const esmClass of [0x08, 0x10, 0x18]) expect(reportIn(pdu({ esmClass }), 'Read')).toBe('nothing')
  })

  it('never reports an intermediate notification as an error', () => {
    expect(reportIn(pdu({ esmClass: 0x20 }), 'id:7 stat:UNDELIV')).toMatchObject({ id: '7', status: 'SENT' })
    expect(reportIn(pdu({ esmClass: 0x20 }), 'id:7 stat:ENROUTE')).toMatchObject({ status: 'SENT' })
  })

  it("reads receipts by the line's pattern, and drops a slow pattern", async () => {
    let slow = 0
    const read = patternReader(
      'line',
      'ref=(?<id>\\w+) is (?<stat>\\w+)(?: \\((?<err>\\d+)\\))?',
      () => slow++,
    )
    const report = 'ref=ab12 is undeliv (17)'
    expect(reportIn(pdu(), report, await read(report))).toMatchObject({
      id: 'ab12',
      status: 'ERROR',
      code: '17',
    })
    expect(await read('id:7 stat:DELIVRD')).toBeUndefined()
    const endless = patternReader('line', '(?<id>(a+)+)$', () => slow++)
    const text = `id:7 stat:DELIVRD ${'a'.repeat(60)}!`
    expect(await endless(text)).toBeUndefined()
    expect(await endless(text)).toBeUndefined()
    // The second text was not even tried on it.
    expect(slow).toBe(1)
  })
})

describe('ids', () => {
  it.each([
    ['1A2B', '6699'],
    ['0000006699', '1a2b'],
    ['0xNOT', '0xnot'],
    ['00042', '42'],
  ])('%s may be %s', (reported, answered) => {
    expect(possibleIds(reported, 'any')).toContain(answered)
  })
  it('compares ids literally with ids: none', () => {
    expect(possibleIds('0042', 'none')).toEqual(['0042'])
    expect(possibleIds('16', 'dec_to_hex')).not.toContain('22')
    expect(possibleIds('16', 'hex_to_dec')).toContain('22')
    // A configured form comes first.
    expect(possibleIds('16', 'dec_to_hex')[0]).toBe('10')
    expect(possibleIds('16', 'any')[0]).toBe('16')
  })
})

it.each([
  [0, 'ok'],
  [0x58, 'slower'],
  [0x14, 'slower'],
  [0x08, 'slower'],
  [0x0b, 'never'],
  [0x0a, 'never'],
  [0x45, 'later'],
  [0x04, 'unbound'],
  [0x0e, 'never'],
  [0x400, 'never'],
  [0xffffffff, 'never'],
])('status %d asks for: %s', (status, verdict) => {
  expect(meaningOf(status).verdict).toBe(verdict)
})
