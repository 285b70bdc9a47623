import { createCipheriv, createHash, hash, randomFillSync } from 'node:crypto'

/** The only source of randomness. */
export interface Random {
  bytes(length: number): Buffer
  /** Base62 characters, without bias. */
  text(length: number): string
  /** An integer from 0 to `limit` (exclusive), without bias. */
  below(limit: number): number
}

interface Ids {
  /** A unique id that sorts by time. */
  timeOrdered(now: number): string
  random: Random
}

const POOL = 16 * 512
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A seed makes a simulated world repeatable: same ids, same order. Such a world has no secrets. */
export function createIds(seed?: string): Ids {
  const fill = seed === undefined ? randomFillSync : seeded(seed)
  const pool = Buffer.alloc(POOL)
  let used = pool.length
  let lastMillis = 0
  let counter = 0
  let prefix = ''
  let prefixMillis = -1

  const random: Random = {
    bytes: (length) => fill(Buffer.alloc(length)),
    text(length) {
      let text = ''
      while (text.length < length) {
        for (const byte of random.bytes(length * 2)) {
          if (byte < 248 && text.length < length) text += ALPHABET[byte % 62]
        }
      }
      return text
    },
    below(limit) {
      const fair = 2 ** 48 - (2 ** 48 % limit)
      for (;;) {
        const value = random.bytes(6).readUIntBE(0, 6)
        if (value < fair) return value % limit
      }
    },
  }

  /** UUID version 7: new rows are appended to the end of every index, which a database writes fastest. */
  function timeOrdered(now: number): string {
    if (used + 8 > pool.length) {
      fill(pool)
      used = 0
    }
    // Within a millisecond the 12 bits after the time count up, so that ids keep their order.
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

  return { timeOrdered, random }
}

/** An endless stream of bytes, determined by the seed. */
function seeded(seed: string): (buffer: Buffer) => Buffer {
  const stream = createCipheriv('aes-256-ctr', createHash('sha256').update(seed).digest(), Buffer.alloc(16))
  return (buffer) => {
    stream.update(Buffer.alloc(buffer.length)).copy(buffer)
    return buffer
  }
}

/** The smallest id of a time. */
export function firstIdAt(time: number): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}

/**
 * Length of the ids of accounts and lines. They are few, and their ids are in many indexes: ten characters instead of
 * 36 make a message a third cheaper to store.
 */
export const SHORT_ID = 10

/** A UUID derived from a text (version 8): equal texts have equal UUIDs. */
export function uuidOf(text: string): string {
  const hex = hash('sha256', text, 'hex')
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
