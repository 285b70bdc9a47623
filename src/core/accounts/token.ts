import { crc32 } from 'node:zlib'

/** A short-lived stand-in for the key that made it. Its text is shown once and kept only as a hash. */
export interface Token {
  id: string
  accountId: string
  /** The key that made it; the token is dead when that key is. */
  keyId: string
  /** Numbers of the lines it is confined to; null: all lines of the account. */
  numbers: readonly string[] | null
  createdAt: number
  expiresAt: number
  revokedAt: number | null
}

/** Seconds a token may live. */
export const TOKEN_LIFE = { min: 60, max: 86_400, default: 900 } as const

/**
 * `tl_<token id>_<random tail><checksum>`. The checksum tells a mistyped or cut-off token, and one that a
 * scanner found, from noise, without a look into the database.
 */
export function tokenText(id: string, tail: string): string {
  const body = `tl_${id}_${tail}`
  return body + checksum(body)
}

/** The id in a token's text; undefined when the text cannot be a token. */
export function tokenIdIn(text: string): string | undefined {
  const id = SHAPE.exec(text)?.[1]
  return id !== undefined && checksum(text.slice(0, -CHECKSUM)) === text.slice(-CHECKSUM) ? id : undefined
}

/** Characters of the tail: 256 random bits in base62. */
export const TOKEN_TAIL = 43
const CHECKSUM = 6
const SHAPE = new RegExp(
  `^tl_([\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12})_[\\dA-Za-z]{${TOKEN_TAIL + CHECKSUM}}$`,
)

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  while (digits.length < CHECKSUM) {
    digits = ALPHABET[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
