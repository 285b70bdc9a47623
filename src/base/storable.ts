/**
 * What a carrier said, in a form that can be stored: PostgreSQL takes no NULs and no halves of characters, and
 * SQLite does not find them again. A caller is told to mend such a text; a carrier would only bring it again, for
 * ever. So NULs go, and halves become the replacement character.
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
