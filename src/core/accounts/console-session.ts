/** A session of the console: the keys of the signed-in user, for the life of the cookie. */
export interface ConsoleSession {
  id: string
  /** A live or test key. */
  accountKeyId: string | null
  adminKeyId: string | null
  createdAt: number
  usedAt: number
  expiresAt: number
}

export const SESSION_LIFE_MS = 12 * 3_600_000
const ID_LENGTH = 16
const SECRET_LENGTH = 43

export const SESSION_LENGTHS = { id: ID_LENGTH, secret: SECRET_LENGTH }

const TEXT = new RegExp(`^([0-9A-Za-z]{${ID_LENGTH}})\\.([0-9A-Za-z]{${SECRET_LENGTH}})$`)

/** The content of the cookie. */
export function sessionText(id: string, secret: string): string {
  return `${id}.${secret}`
}

export function parseSessionText(text: string): { id: string; secret: string } | undefined {
  const [, id, secret] = TEXT.exec(text) ?? []
  return id && secret ? { id, secret } : undefined
}
