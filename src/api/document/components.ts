/** A part of the API document: plain JSON. */
// biome-ignore lint/suspicious/noExplicitAny: the document is free-form JSON
export type Json = any

/**
 * Replaces every schema that has a title by a reference, and returns the schemas by title. Only the document has
 * references: validators and serialisers use the schemas of the routes as they are.
 */
export function hoistSchemas<T>(part: T, schemas: Record<string, Json>): T {
  if (Array.isArray(part)) return part.map((item) => hoistSchemas(item, schemas)) as T
  if (typeof part !== 'object' || part === null) return part
  const walked = Object.fromEntries(
    Object.entries(part).map(([key, value]) => [
      key,
      key === 'example' ? value : hoistSchemas(value, schemas),
    ]),
  )
  // The description says what the value means in its place.
  const { title, description, ...schema } = walked
  if (typeof title !== 'string') return walked as T
  const known = schemas[title]
  if (known && JSON.stringify(known) !== JSON.stringify(schema))
    throw new Error(`Two different schemas have the title ${title}. Rename one of them.`)
  schemas[title] = schema
  return { $ref: `#/components/schemas/${title}`, ...(description ? { description } : {}) } as T
}
