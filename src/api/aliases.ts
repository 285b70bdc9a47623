import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Puts older names of a body's fields in place of the current ones, and drops nulls: an optional field that is
 * null is an absent one. The current name wins when both are given.
 */
export function withAliases(aliases: Readonly<Record<string, readonly string[]>>) {
  return (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
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
    for (const key of ['send_style', 'status_callback', 'media_url', 'seat_id']) if (body[key] === '') delete body[key]
    done()
  }
}

function dropNulls(fields: unknown): void {
  if (typeof fields !== 'object' || fields === null) return
  for (const [key, value] of Object.entries(fields)) if (value === null) delete (fields as Record<string, unknown>)[key]
}
