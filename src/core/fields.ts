/** Reads values out of a server's JSON without trusting its shape. */

export type Fields = Readonly<Record<string, unknown>>

const NOTHING: Fields = Object.freeze(Object.create(null))

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : NOTHING
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function wholeOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? (value as number) : undefined
}

/** A time in epoch milliseconds, if it is within the range of Date. */
export function momentOf(value: unknown): number | null {
  const at = wholeOf(value)
  return at !== undefined && at > 0 && at < 8.64e15 ? at : null
}

/** The server returns booleans as true and false or as 1 and 0. */
export function flagOf(value: unknown): boolean | undefined {
  if (value === true || value === 1) return true
  return value === false || value === 0 ? false : undefined
}

export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
