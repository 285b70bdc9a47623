/**
 * Makes a carrier's text storable: PostgreSQL rejects NULs and lone surrogates, and SQLite cannot find them again. An
 * API caller gets an error for such a text, but a carrier would deliver it again for ever. So NULs are removed, and
 * lone surrogates become the replacement character.
 */
export function storable<T>(value: T): T {
  if (typeof value === 'string') {
    const isFine = value.isWellFormed() && !value.includes('\u0000')
    return (isFine ? value : value.replaceAll('\u0000', '').toWellFormed()) as T
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(storable) as T
  const entries = Object.entries(value).map(([name, part]) => [name, storable(part)])
  return Object.fromEntries(entries) as T
}
