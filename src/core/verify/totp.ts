import { createHmac } from 'node:crypto'
import { trimEnd } from '../trim-end.js'

/** Time-based one-time codes (RFC 6238), their base32 secrets (RFC 4648) and otpauth URIs. */

export const ALGORITHMS = ['SHA1', 'SHA256', 'SHA512'] as const
export type Algorithm = (typeof ALGORITHMS)[number]
export const DIGITS = [6, 8] as const
export const MAX_PERIOD = 86_400
/** Common secrets have 10 to 64 bytes; fewer than 5 are a typing error. */
export const SECRET_BYTES = { min: 5, max: 256 } as const

export interface TotpSettings {
  algorithm: Algorithm
  digits: number
  /** Seconds that a code is valid. */
  period: number
}

export interface TotpSecret extends TotpSettings {
  id: string
  accountId: string
  label: string
  issuer: string | null
  createdAt: number
}

export const TOTP_DEFAULTS: TotpSettings = { algorithm: 'SHA1', digits: 6, period: 30 }

export function totpCode(
  key: Uint8Array,
  { algorithm, digits, period }: TotpSettings,
  seconds: number,
): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(seconds / period)))
  const mac = createHmac(algorithm, key).update(counter).digest()
  const at = mac[mac.length - 1]! & 15
  const number = mac.readUInt32BE(at) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/** Whole seconds until the next code, 1 to `period`. */
export function secondsLeft(period: number, seconds: number): number {
  return period - (Math.floor(seconds) % period)
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export function toBase32(bytes: Uint8Array): string {
  let text = ''
  let buffer = 0
  let bits = 0
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(buffer >> (bits - 5)) & 31]
    buffer &= 0xff
  }
  return bits > 0 ? text + BASE32[(buffer << (5 - bits)) & 31] : text
}

/** Normalises a pasted secret (spaces, dashes, lower case, padding); undefined if it is invalid. */
export function plainSecret(text: string): string | undefined {
  const plain = trimEnd(text.replace(/[\s-]/g, ''), '=')
  // Only these lengths encode whole bytes.
  if (!/^[A-Za-z2-7]+$/.test(plain) || [1, 3, 6].includes(plain.length % 8)) return undefined
  const bytes = Math.floor((plain.length * 5) / 8)
  return bytes < SECRET_BYTES.min || bytes > SECRET_BYTES.max ? undefined : plain.toUpperCase()
}

/** The bytes of a plain secret. */
export function fromBase32(plain: string): Buffer {
  const bytes: number[] = []
  let buffer = 0
  let bits = 0
  for (const letter of plain) {
    buffer = ((buffer & 0xff) << 5) | BASE32.indexOf(letter)
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes.push((buffer >> bits) & 0xff)
    }
  }
  return Buffer.from(bytes)
}
