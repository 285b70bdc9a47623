import { describe, expect, it } from 'vitest'
import { parseReaction, REACTIONS, tapbackText } from './reaction.js'

describe('parseReaction', () => {
  it.each([...REACTIONS])('%s, and its removal', (reaction) => {
    expect(parseReaction(reaction)).toEqual({ reaction, remove: false })
    expect(parseReaction(`-${reaction}`)).toEqual({ reaction, remove: true })
  })

  it.each(['😀', '❤️', '❤', '👍🏽', '👨‍👩‍👧‍👦', '🇨🇭', '1️⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🏳️‍🌈', '‼️', '🫩'])(
    'one emoji: %s',
    (reaction) => {
      expect(parseReaction(reaction)).toEqual({ reaction, remove: false })
      expect(parseReaction(`-${reaction}`)).toEqual({ reaction, remove: true })
    },
  )

  it.each([
    '',
    '-',
    '--love',
    'Love',
    'LOVE',
    'loved',
    ' love',
    'love ',
    '😀😀',
    '😀 ',
    '😀a',
    'a',
    '1',
    '#',
    '-1',
    'é',
    '😀\u0301',
    '\u200d',
    '\ufe0f',
    '🏽a',
    'constructor',
    '__proto__',
    'toString',
    '😀\u200d'.repeat(40),
  ])('not %j', (text) => {
    expect(parseReaction(text)).toBeUndefined()
  })
})

describe('tapbackText', () => {
  const hello = { content: 'Hello “you”', mediaUrl: '' }
  it.each([
    ['love', 'Loved “Hello “you””', 'Removed a heart from “Hello “you””'],
    ['like', 'Liked “Hello “you””', 'Removed a like from “Hello “you””'],
    ['dislike', 'Disliked “Hello “you””', 'Removed a dislike from “Hello “you””'],
    ['laugh', 'Laughed at “Hello “you””', 'Removed a laugh from “Hello “you””'],
    ['emphasize', 'Emphasized “Hello “you””', 'Removed an exclamation from “Hello “you””'],
    ['question', 'Questioned “Hello “you””', 'Removed a question mark from “Hello “you””'],
    ['😀', 'Reacted 😀 to “Hello “you””', 'Removed 😀 from “Hello “you””'],
  ])('%s', (reaction, added, removed) => {
    expect(tapbackText({ reaction, remove: false }, hello)).toBe(added)
    expect(tapbackText({ reaction, remove: true }, hello)).toBe(removed)
  })

  it('of what has no text', () => {
    const love = { reaction: 'love', remove: false }
    expect(tapbackText(love, { content: '', mediaUrl: 'https://example.com/a.jpg' })).toBe('Loved an image')
    expect(tapbackText(love, { content: '', mediaUrl: '' })).toBe('Loved an attachment')
  })
})
