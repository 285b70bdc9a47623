import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { consentWord } from './opt-out.js'

describe('consentWord', () => {
  it.each([
    'stop',
    'STOP',
    'Stop.',
    'STOP!',
    ' stop ',
    '"stop"',
    'stop\n',
    'STOP ALL',
    'StopAll',
    'stop-all',
    'Unsubscribe',
    'cancel',
    'END',
    'quit',
    'opt-out',
    'OPT OUT',
    'revoke',
    'STOP 🛑',
    'STOP ✋️',
    'STOP 🙏🏽',
    'stop\u200b',
    '\ufeffSTOP',
    'Stop. Thank you',
    'STOP, thanks!',
    'please stop',
    'Unsubscribe please',
    'stop now',
    'ARRÊT',
  ])('takes %j for the end of consent', (text) => {
    expect(consentWord(text)).toBe('stop')
  })

  it.each(['start', 'START', 'Yes!', 'unstop', 'Subscribe', 'opt in', 'OPT-IN.'])(
    'takes %j for renewed consent',
    (text) => {
      expect(consentWord(text)).toBe('start')
    },
  )

  it.each([
    '',
    ' ',
    '...',
    'stop by later',
    "don't stop",
    'Stop it',
    'nonstop',
    'stopped',
    's t o p',
    'the end',
    'yes please',
    'start over',
    'stop start',
    'cancel my order',
    'cancel please',
    'end now',
    'thank you',
    'please stop by, thank you',
    'thanks, not stopping',
  ])('takes %j for ordinary text', (text) => {
    expect(consentWord(text)).toBeUndefined()
  })

  it.each(['help', 'HELP?', 'Info', 'aide'])('takes %j for a question', (text) => {
    expect(consentWord(text)).toBe('help')
  })

  it.each(['help me', 'more info', 'helpful'])('takes %j for ordinary text, too', (text) => {
    expect(consentWord(text)).toBeUndefined()
  })

  it('is about the whole message: a further word makes it ordinary text', () => {
    const words = fc.string({ unit: fc.constantFrom(...'bcdfghjklm'), minLength: 1, maxLength: 10 })
    const said = fc.constantFrom('stop', 'unsubscribe', 'start', 'cancel')
    fc.assert(
      fc.property(said, words, (word, more) => {
        expect(consentWord(`${word} ${more}`)).toBeUndefined()
        expect(consentWord(`${more} ${word}`)).toBeUndefined()
      }),
    )
  })

  it('does not mind case, punctuation and space around', () => {
    const around = fc.string({
      unit: fc.constantFrom(' ', '.', '!', '?', '"', '\n', '*', '🛑'),
      maxLength: 8,
    })
    fc.assert(
      fc.property(around, around, fc.constantFrom('stop', 'STOP', 'StOp'), (before, after, word) => {
        expect(consentWord(before + word + after)).toBe('stop')
      }),
    )
  })
})
