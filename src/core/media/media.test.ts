import { describe, expect, it } from 'vitest'
import { keptMs, mediaUrl, parseMediaUrl } from './media.js'
import { parseRange } from './range.js'

describe('parseRange', () => {
  it.each<[string | undefined, unknown]>([
    [undefined, undefined],
    ['', undefined],
    ['bytes=0-9', { start: 0, end: 10 }],
    ['bytes=0-0', { start: 0, end: 1 }],
    ['bytes=5-', { start: 5, end: 100 }],
    ['bytes=-1', { start: 99, end: 100 }],
    ['bytes=-1000', { start: 0, end: 100 }],
    ['bytes=90-1000', { start: 90, end: 100 }],
    ['bytes=99-99', { start: 99, end: 100 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=100-200', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=9-5', undefined],
    ['bytes=-', undefined],
    ['bytes=0-1,5-6', undefined],
    ['bytes=a-b', undefined],
    ['bytes=1.5-', undefined],
    ['bytes=+1-2', undefined],
    ['items=0-9', undefined],
    [`bytes=0-${'9'.repeat(40)}`, undefined],
  ])('%j of 100 bytes', (header, expected) => {
    expect(parseRange(header, 100)).toEqual(expected)
  })
})

describe('addresses of media', () => {
  const name = `${'aB3'.repeat(7)}x`
  it('are read back', () => {
    const url = mediaUrl('https://sms.example.com/t', { name, extension: 'jpg' })
    expect(url).toBe(`https://sms.example.com/t/media/${name}.jpg`)
    expect(parseMediaUrl('https://sms.example.com/t', url)).toEqual({ name, extension: 'jpg' })
  })

  it.each([
    `https://sms.example.com.evil/media/${name}.jpg`,
    `https://sms.example.com@evil/media/${name}.jpg`,
    `https://sms.example.com/media/../admin/${name}.jpg`,
    `https://sms.example.com/media/${name}.jpg?x=1`,
    `https://sms.example.com/media/${name}.jpg#x`,
    `https://sms.example.com/media/${name}`,
    `https://sms.example.com/media/${name}x.jpg`,
    `http://sms.example.com/media/${name}.jpg`,
    `https://sms.example.com/admin`,
  ])('%s is none', (url) => {
    expect(parseMediaUrl('https://sms.example.com', url)).toBeUndefined()
  })

  it('nothing is ours while we have no address', () => {
    expect(parseMediaUrl('', `/media/${name}.jpg`)).toBeUndefined()
  })
})

it('inbound media is kept for 30 days, uploads as long as the operator says', () => {
  expect(keptMs('inbound', 0)).toBe(30 * 86_400_000)
  expect(keptMs('inbound', 365)).toBe(30 * 86_400_000)
  expect(keptMs('upload', 0)).toBeUndefined()
  expect(keptMs('upload', 7)).toBe(7 * 86_400_000)
})
