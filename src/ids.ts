import { hash, randomFillSync } from 'node:crypto'

/**
 * Ids that sort by the time they were made (UUID version 7): new rows land side by side at the end of every
 * index instead of all over it, which is what a database writes fastest.
 */
const pool = Buffer.allocUnsafe(16 * 512)
let used = pool.length
let lastMillis = 0
let counter = 0
let prefix = ''
let prefixMillis = -1

export function timeOrderedId(now: number): string {
  if (used + 8 > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  // Within a millisecond the 12 bits after the time count up, so that order holds there too.
  if (now > lastMillis) {
    lastMillis = now
    counter = pool.readUInt16BE(used) & 0x3ff
  } else if (++counter > 0xfff) {
    lastMillis++
    counter = 0
  }
  if (lastMillis !== prefixMillis) {
    const time = lastMillis.toString(16).padStart(12, '0')
    prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`
    prefixMillis = lastMillis
  }
  const tail = pool.toString('hex', used, used + 8)
  used += 8
  const variant = '89ab'[pool[used - 8]! & 3]
  return `${prefix}${counter.toString(16).padStart(3, '0')}-${variant}${tail.slice(1, 4)}-${tail.slice(4)}`
}

/** The smallest id of that time. */
export function firstIdAt(time: number): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * For things of which there are few and whose id stands in many indexes: ten characters instead of 36 make a
 * message a third cheaper to store.
 */
export function shortId(): string {
  return randomText(10)
}

/** Random base62 characters, without bias. */
export function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomFillSync(Buffer.allocUnsafe(length * 2))) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62]
    }
  }
  return text
}

/** A UUID that the same text always gives (version 8). */
export function uuidOf(text: string): string {
  const hex = hash('sha256', text, 'hex')
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
