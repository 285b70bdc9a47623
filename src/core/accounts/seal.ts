import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/**
 * Encrypts recoverable secrets, so that a copy of the database is useless without the key ring. AES-256-GCM, written as
 * `v1.kid.iv.ct.tag` and bound to its place: moved to another row, column or account, the text does not open.
 */
export interface SealKey {
  /** Name of the key, part of every text that it sealed. */
  kid: string
  key: Buffer
}

/** The place of a sealed text. */
export interface SealContext {
  table: string
  column: string
  row: string
  account: string
}

export interface Vault {
  /** The key that seals. */
  readonly kid: string
  /** All keys that open. */
  readonly kids: readonly string[]
  seal(place: SealContext, text: string): string
  open(place: SealContext, sealed: string): string
  /** A token for a name. It is not stored, and only a holder of the key ring can make it. */
  sign(purpose: string, name: string): string
  /** The tokens that the keys of the ring make for a name. */
  signatures(purpose: string, name: string): readonly string[]
  /** Whether a key of the ring made this token. */
  isSigned(purpose: string, name: string, token: string): boolean
}

export class SealError extends Error {}

const VERSION = 'v1'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

/** `kid:base64` of 32 bytes, separated by commas or lines. The first seals, all open. */
export function parseSealKeys(text: string): SealKey[] {
  const entries = text
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  if (entries.length === 0) throw new SealError('there is no key in it')
  const keys = entries.map((entry, i): SealKey => {
    const match = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]+={0,2})$/.exec(entry)
    // Does not show the entry, which may contain the key.
    if (!match) throw new SealError(`entry ${i + 1} must be kid:key, with the key in base64`)
    const key = Buffer.from(match[2]!, 'base64')
    if (key.length !== KEY_BYTES) {
      throw new SealError(`the key ${match[1]} must be ${KEY_BYTES} bytes in base64, and is ${key.length}`)
    }
    return { kid: match[1]!, key }
  })
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length)
    throw new SealError('two keys have the same name')
  return keys
}

/** A new key in the format of a ring. */
export function newSealKey(): string {
  return `k${randomBytes(4).toString('hex')}:${randomBytes(KEY_BYTES).toString('base64')}`
}

export function createVault(keys: readonly SealKey[]): Vault {
  const ring = new Map(keys.map(({ kid, key }) => [kid, key]))
  const kid = keys[0]!.kid
  const derived = new Map<string, Buffer>()

  /** Derives a separate key for each purpose, so that one leaked key does not affect another purpose. */
  function subkey(kid: string, purpose: string): Buffer {
    const name = `${kid} ${purpose}`
    let key = derived.get(name)
    if (!key) {
      const root = ring.get(kid)
      if (!root) {
        throw new SealError(
          `Sealed under the key ${kid}, which is not in the key ring. Add it to TRUNKLINE_SEAL_KEYS.`,
        )
      }
      key = Buffer.from(hkdfSync('sha256', root, '', `trunkline ${VERSION} ${purpose}`, KEY_BYTES))
      derived.set(name, key)
    }
    return key
  }

  const signature = (kid: string, purpose: string, name: string) =>
    createHmac('sha256', subkey(kid, `sign ${purpose}`))
      .update(name)
      .digest('base64url')

  return {
    kid,
    kids: [...ring.keys()],
    seal(place, text) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', subkey(kid, purposeOf(place)), iv, {
        authTagLength: TAG_BYTES,
      })
      cipher.setAAD(binding(kid, place))
      const ct = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return [VERSION, kid, ...[iv, ct, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join(
        '.',
      )
    },
    open(place, sealed) {
      const [version, kid, ...rest] = sealed.split('.')
      const [iv, ct, tag] = rest.map(bytesOf)
      if (
        version !== VERSION ||
        !kid ||
        rest.length !== 3 ||
        iv?.length !== IV_BYTES ||
        tag?.length !== TAG_BYTES
      )
        throw new SealError(`Not a sealed text: ${place.table}.${place.column} of ${place.row}`)
      const decipher = createDecipheriv('aes-256-gcm', subkey(kid, purposeOf(place)), iv, {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(binding(kid, place))
      decipher.setAuthTag(tag)
      try {
        return Buffer.concat([decipher.update(ct!), decipher.final()]).toString('utf8')
      } catch {
        throw new SealError(
          `Changed, moved from another row, or sealed under another key of the same name: ${place.table}.${place.column} of ${place.row}`,
        )
      }
    },
    sign: (purpose, name) => signature(kid, purpose, name),
    signatures: (purpose, name) => keys.map(({ kid }) => signature(kid, purpose, name)),
    isSigned(purpose, name, token) {
      const given = Buffer.from(token, 'latin1')
      return keys.some(({ kid }) => {
        const right = Buffer.from(signature(kid, purpose, name), 'latin1')
        return given.length === right.length && timingSafeEqual(given, right)
      })
    },
  }
}

function purposeOf(place: SealContext): string {
  return `seal ${place.table}.${place.column}`
}

/** JSON, so that no two places have equal texts. */
function binding(kid: string, { table, column, row, account }: SealContext): Buffer {
  return Buffer.from(JSON.stringify([VERSION, kid, table, column, row, account]))
}

/** Base64url has spare bits at its end. Rejects another spelling of the same bytes. */
function bytesOf(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url')
  return bytes.toString('base64url') === part ? bytes : undefined
}
