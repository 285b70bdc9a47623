import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify'

/** Older names of fields, by the current one. */
export type Aliases = Readonly<Record<string, readonly string[]>>

/**
 * Puts older names of a body's fields in place of the current ones, and drops nulls: an optional field that is
 * null is an absent one. The current name wins when both are given.
 */
export function withAliases(aliases: Aliases) {
  return (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    const body = request.body as Record<string, unknown> | null | undefined
    if (!body) return done()
    dropNulls(body)
    // Not in every object: the nulls of free-form JSON belong to the caller.
    dropNulls(body.reply_to)
    for (const [name, older] of Object.entries(aliases)) {
      if (body[name] !== undefined) continue
      const used = older.find((alias) => body[alias] !== undefined)
      if (used) body[name] = body[used]
    }
    // An empty choice is no choice: forms and older clients send every field.
    for (const key of ['send_style', 'status_callback', 'media_url', 'seat_id'])
      if (body[key] === '') delete body[key]
    done()
  }
}

function dropNulls(fields: unknown): void {
  if (typeof fields !== 'object' || fields === null) return
  for (const [key, value] of Object.entries(fields))
    if (value === null) delete (fields as Record<string, unknown>)[key]
}

/**
 * A route's schema as the API document shows it, with the older names as deprecated fields. Only the document
 * has them: validation sees a body after its older names are gone.
 */
export function documentAliases(aliases: Aliases) {
  return ({ schema, url }: { schema: FastifySchema; url: string }) => {
    const body = schema.body as { properties: Record<string, object> }
    const older = Object.entries(aliases).flatMap(([name, names]) =>
      names.map((alias) => [
        alias,
        { ...body.properties[name], description: `Older name of ${name}`, deprecated: true },
      ]),
    )
    const properties = { ...body.properties, ...Object.fromEntries(older) }
    return { url, schema: { ...schema, body: { ...body, properties } } }
  }
}
