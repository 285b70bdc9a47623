import { describe, expect, it } from 'vitest'
import { NoAnswer } from '../../../src/core/lines/no-answer.js'
import { SEND_STYLES } from '../../../src/core/messages/send-style.js'
import { failureDuringSend, readSendAnswer } from '../../../src/drivers/bluebubbles/answers.js'
import { readRow } from '../../../src/drivers/bluebubbles/reading/rows.js'
import { effectOf, styleOf } from '../../../src/drivers/bluebubbles/sending/effects.js'
import { comparable, likeness } from '../../../src/drivers/bluebubbles/sending/lookup.js'
import { fileName, fileStem } from '../../../src/drivers/bluebubbles/sending/upload.js'
import { tapbackOf } from '../../../src/drivers/bluebubbles/tapbacks.js'

const ROW = { guid: 'GUID', isFromMe: true, text: 'Hello', error: 0 }
const said = (status: number, fault = '', data: unknown = undefined, isEnvelope = true) =>
  readSendAnswer({ status, isEnvelope, data, metadata: {}, fault })
const outcome = (...given: Parameters<typeof said>) => {
  const taken = said(...given)
  return 'row' in taken ? 'taken' : taken.failed.outcome
}

describe("reading a Mac's answer to a send", () => {
  it('accepts only an answer with a row, for every status, and never retries a doubtful one', () => {
    for (let status = 100; status < 600; status++) {
      const expected =
        status === 401 ||
        status === 403 ||
        status === 407 ||
        status === 429 ||
        (status >= 300 && status < 400)
          ? 'never-left'
          : status === 404
            ? 'never-left'
            : status >= 400 && status < 500 && status !== 408
              ? 'refused'
              : 'unknown'
      expect([status, outcome(status)]).toEqual([status, expected])
    }
  })

  it.each([
    ['a row', [200, '', ROW], 'taken'],
    ['no row', [200, '', {}], 'unknown'],
    ['no envelope', [200, '', ROW, false], 'unknown'],
    ['a page of a proxy', [404, '', undefined, false], 'refused'],
    ['the Private API is off', [500, 'iMessage Private API is not enabled!'], 'never-left'],
    ['no helper', [500, 'iMessage Private API Helper is not connected!'], 'never-left'],
    ['no answer of the helper', [500, 'Transaction timeout'], 'unknown'],
    [
      'no row in a minute',
      [500, 'Failed to send message! Message not found in database after 60 seconds!'],
      'unknown',
    ],
    ['no such chat', [500, 'Chat does not exist'], 'never-left'],
    ['the same is under way', [400, 'Message is already queued to be sent!'], 'unknown'],
    ['a wrong request', [400, 'The chatGuid field is required.'], 'refused'],
    ['a failed message', [500, 'Message failed to send!', { ...ROW, error: 22 }], 'refused'],
    ['a failed file, under a yes', [200, '', { ...ROW, error: 4 }], 'refused'],
    ['nobody by that number', [500, 'Failed to find all handles for specified service'], 'refused'],
  ] as const)('%s', (_, given, expected) => {
    expect(outcome(...(given as unknown as Parameters<typeof said>))).toBe(expected)
  })

  it('tries another service only for error 22 or a missing handle', () => {
    const next = (error: number) =>
      (said(500, '', { ...ROW, error }) as { failed: { tryNextService?: boolean } }).failed
    expect(next(22).tryNextService).toBe(true)
    expect(next(4).tryNextService).toBeUndefined()
  })

  it('tells a connection that broke before the request left from one that broke after', () => {
    expect(failureDuringSend(new NoAnswer('x', false)).outcome).toBe('never-left')
    expect(failureDuringSend(new NoAnswer('x', true)).outcome).toBe('unknown')
  })
})

describe('recognising a message on a Mac', () => {
  const row = (fields: object) => readRow({ ...ROW, ...fields })!
  const wanted = (content: string, mediaUrl = '') => ({ content, mediaUrl, extra: null })

  it('by its text, despite changed quotes, dashes and spaces', () => {
    expect(comparable(' “Yes” – it’s… ')).toBe(comparable('"Yes" - it\'s...'))
    expect(likeness(row({ text: 'It’s fine ' }), wanted("It's fine"))).toBe(2)
    expect(likeness(row({ text: 'It is fine' }), wanted("It's fine"))).toBe(0)
    expect(likeness(row({ text: '', attributedBody: [{ string: 'Only here' }] }), wanted('Only here'))).toBe(
      2,
    )
  })

  it('by the name of its file, despite conversion', () => {
    const attachments = [{ guid: 'A', transferName: 'IMG_1.jpeg' }]
    const url = 'https://example.com/a/IMG_1.heic?x=1'
    expect(likeness(row({ text: '', attachments }), wanted('', url))).toBe(2)
    expect(likeness(row({ text: 'Look', attachments }), wanted('Look', url))).toBe(2)
    expect(likeness(row({ text: 'Look' }), wanted('Look', url))).toBe(1)
    expect(likeness(row({ text: 'Other', attachments }), wanted('', url))).toBe(0)
    expect(fileName('https://example.com/p/ho%20to?x', 'image/png')).toBe('ho_to.png')
    expect(fileName('https://example.com/', 'x/y')).toBe('file.bin')
    expect(fileStem('../../etc/passwd')).toBe('passwd')
  })

  it('maps every effect to one send style and back', () => {
    expect(SEND_STYLES.map((style) => styleOf(effectOf(style)!))).toEqual([...SEND_STYLES])
  })

  it('reads tapbacks by name, by number, and an emoji from the text', () => {
    const tapback = (associatedMessageType: unknown, text = '') =>
      tapbackOf(row({ associatedMessageGuid: 'p:1/X', associatedMessageType, text }))
    expect(tapback('love')).toEqual({ reaction: 'love', remove: false })
    expect(tapback('-laugh')).toEqual({ reaction: 'laugh', remove: true })
    expect(tapback(3002)).toEqual({ reaction: 'dislike', remove: true })
    expect(tapback('2006', 'Reacted 🎉 to “So - what?”')).toEqual({ reaction: '🎉', remove: false })
    expect(tapback('2006')).toBe('unreadable')
    expect(tapback('2')).toBeUndefined()
    expect(tapback('sticker')).toBeUndefined()
  })
})
