/** What PostgreSQL cannot store, and SQLite stores so that it cannot be found again. */
const UNSTORABLE = /\u0000|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

/**
 * What a carrier said, in a form that can be stored. A caller is told to mend such a text; a carrier would only
 * bring it again, for ever: NULs go, halves of characters become the replacement character.
 */
export function storable<T>(value: T): T {
  if (typeof value === 'string') {
    return (UNSTORABLE.test(value) ? value.replaceAll('\u0000', '').toWellFormed() : value) as T
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(storable) as T
  const entries = Object.entries(value).map(([name, part]) => [name, storable(part)])
  return Object.fromEntries(entries) as T
}
