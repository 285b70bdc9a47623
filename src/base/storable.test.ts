import { expect, it } from 'vitest'
import { storable } from './storable.js'

it.each([
  ['plain 👋', 'plain 👋'],
  ['\u0000a\u0000b', 'ab'],
  ['a\ud83d', 'a\ufffd'],
  ['\udc4ba', '\ufffda'],
])('%j can be stored as %j', (given, stored) => {
  expect(storable(given)).toBe(stored)
  expect(storable({ deep: [{ text: given, n: 1, none: null }] })).toEqual({
    deep: [{ text: stored, n: 1, none: null }],
  })
})
