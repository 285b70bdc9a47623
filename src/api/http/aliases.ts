import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify'

/** Older names of fields, by the current name. */
export type Aliases = Readonly<Record<string, readonly string[]>>

/**
 * Replaces older names of body fields by the current ones and drops nulls, also in the objects at the given paths: an
 * optional field that is null counts as absent. The current name wins when both are given.
 */
export function withAliases(aliases: Aliases, objects: readonly string[] = []) {
  const current = new Map(
    Object.entries(aliases).flatMap(([name, older]) => older.map((alias) => [alias, name])),
  )
  const rename = (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    const body = request.body as Record<string, unknown> | null | undefined
    if (!body) return done()
    dropNulls(body)
    // Only in known objects: nulls in free-form JSON belong to the caller.
    if (body.reply_to !== undefined) dropNulls(body.reply_to)
    for (const path of objects) dropNulls(path.split('.').reduce(inside, body))
    for (const key of Object.keys(body)) {
      const name = current.get(key) ?? key
      const value = body[key]
      // Some clients list the one file of a message.
      if (name === 'media_url' && Array.isArray(value) && value.length <= 1) body[key] = value[0] ?? ''
      if (NO_CHOICE[name]?.includes(body[key] as string)) delete body[key]
    }
    for (const key of Object.keys(body)) {
      const name = current.get(key)
      if (name !== undefined && body[name] === undefined) body[name] = body[key]
    }
    done()
  }
  return Object.assign(rename, { olderNames: [...current.keys()] })
}

/** Values that count as absent. Forms and older clients send every field. */
const NO_CHOICE: Readonly<Record<string, readonly string[]>> = {
  send_style: ['', 'regular'],
  status_callback: [''],
  media_url: [''],
  seat_id: [''],
}

function inside(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function dropNulls(fields: unknown): void {
  if (typeof fields !== 'object' || fields === null) return
  const record = fields as Record<string, unknown>
  for (const key of Object.keys(record)) if (record[key] === null) delete record[key]
}

/**
 * A route's schema for the API document, with the older names as deprecated fields. Validation runs after the older
 * names are replaced, so only the document lists them.
 */
export function documentAliases(aliases: Aliases) {
  return ({ schema, url }: { schema: FastifySchema; url: string }) => ({
    url,
    schema: { ...schema, body: olderNames(schema.body as ObjectSchema, aliases) },
  })
}

interface ObjectSchema {
  properties: Record<string, object>
}

/** The schema of an object, with the older names beside the current ones. */
export function olderNames(object: ObjectSchema, aliases: Aliases): ObjectSchema {
  const older = Object.entries(aliases).flatMap(([name, names]) =>
    names.map((alias) => [
      alias,
      { ...object.properties[name], description: `Older name of ${name}`, deprecated: true },
    ]),
  )
  return { ...object, properties: { ...object.properties, ...Object.fromEntries(older) } }
}
