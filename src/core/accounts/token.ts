import { crc32 } from 'node:zlib'

/** A short-lived substitute for the key that created it. Its text is shown once and stored as a hash only. */
export interface Token {
  id: string
  accountId: string
  /** The key that created the token. Revoking the key revokes the token. */
  keyId: string
  /** Numbers of the lines that the token is limited to; null for all lines of the account. */
  numbers: readonly string[] | null
  createdAt: number
  expiresAt: number
  revokedAt: number | null
}

/** Lifetime of a token in seconds. */
export const TOKEN_LIFE = { min: 60, max: 86_400, default: 900 } as const

/**
 * `tl_<token id>_<random tail><checksum>`. The checksum detects mistyped or truncated tokens, and lets secret scanners
 * recognise tokens, without a database.
 */
export function tokenText(id: string, tail: string): string {
  const body = `tl_${id}_${tail}`
  return body + checksum(body)
}

/** The id in a token's text; undefined if the text is not a token. */
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
