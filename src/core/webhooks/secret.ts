/** Secrets of webhooks. The console imports this file: it must not use Node. */

/** Begins a secret whose key is written in base64, by Standard Webhooks. */
export const KEY_PREFIX = 'whsec_'

/** Standard Webhooks asks for keys of 24 to 64 bytes. */
export const LEAST_BYTES = 24

export const SECRET_RULE = `1 to 256 printable ASCII characters, without a space at either end; after whsec_, base64 of at least ${LEAST_BYTES} bytes`

/** A space at either end would be lost in a header. */
const PRINTABLE = /^(?! )[\x20-\x7e]{1,256}(?<! )$/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Why a secret cannot be used; undefined if it can. */
export function secretFault(secret: unknown): string | undefined {
  if (typeof secret !== 'string' || !PRINTABLE.test(secret))
    return 'must be 1 to 256 printable ASCII characters, without a space at either end'
  if (!secret.startsWith(KEY_PREFIX)) return undefined
  const key = secret.slice(KEY_PREFIX.length)
  if (BASE64.test(key) && bytesIn(key) >= LEAST_BYTES) return undefined
  return `must have base64 of at least ${LEAST_BYTES} bytes after ${KEY_PREFIX}. Make one with: echo "${KEY_PREFIX}$(openssl rand -base64 32)"`
}

/** Whether a secret can be used but is short enough to be guessed. */
export function isShortSecret(secret: string): boolean {
  return secret.length < LEAST_BYTES
}

function bytesIn(base64: string): number {
  return Math.floor((base64.replaceAll('=', '').length * 6) / 8)
}
