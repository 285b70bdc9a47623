import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { didYouMean } from '../../core/did-you-mean.js'
import { AppError } from '../../core/errors.js'
import { FIELD_NAME } from '../../core/requests/mask.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Names of fields and parameters that the route does not know, as `x-trunkline-ignored` shows them. */
    ignored: string | null
  }
}

/**
 * Clients of the published interface may send fields that Trunkline does not have, so its routes ignore them and name
 * them in a header. Routes that only Trunkline has refuse them: a misspelt field must not widen what is removed or
 * changed. The same holds for a published DELETE whose body or query says what is removed.
 */
export function isStrict({ method, url, schema }: Pick<RouteOptions, 'method' | 'url' | 'schema'>): boolean {
  if (method === 'DELETE' && (schema?.body || schema?.querystring)) return true
  return /^\/(admin|sim|v3)\/|^\/console\/session$/.test(url) && !PUBLISHED.test(url)
}

/**
 * Routes of the published interface beside those under /api and /accounts. Tokens are not among them: a token for a
 * misspelt `phone_number` would be good for every line.
 */
const PUBLISHED = /^\/v3\/verified-contacts/

interface ObjectSchema {
  properties?: Record<string, ObjectSchema>
  additionalProperties?: unknown
  items?: ObjectSchema
}

/** A hook that reads older names of fields. */
interface OlderNames {
  olderNames?: readonly string[]
}

const MAX_NAMES = 10
const MAX_SHOWN_NAME = 50

export function registerUnknownFields(app: FastifyInstance): void {
  app.decorateRequest('ignored', null)
  app.addHook('onRoute', (route) => {
    if (route.config?.verbatim) return
    const hooks = [route.preValidation ?? []].flat()
    const older = hooks.flatMap((hook) => (hook as OlderNames).olderNames ?? [])
    const body = route.schema?.body as ObjectSchema | undefined
    const query = route.schema?.querystring as ObjectSchema | undefined
    const check = isStrict(route) ? refuser(body, query, older) : reporter(body, query, older)
    // First: later hooks rename fields, and a client must find the names that it sent.
    route.preValidation = [check, ...hooks]
  })
}

type Check = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void

function reporter(
  body: ObjectSchema | undefined,
  query: ObjectSchema | undefined,
  older: readonly string[],
): Check {
  const fields = new Set([...namesOf(body), ...older])
  const parameters = new Set(namesOf(query))
  return (request, reply, done) => {
    let unknown = unknownNames(request.body, fields, NONE)
    if (request.url.includes('?')) unknown = unknownNames(request.query, parameters, unknown)
    if (unknown.length > 0) {
      request.ignored = listNames(unknown)
      reply.header('x-trunkline-ignored', request.ignored)
    }
    done()
  }
}

const NONE: readonly string[] = []

function unknownNames(
  given: unknown,
  known: ReadonlySet<string>,
  before: readonly string[],
): readonly string[] {
  if (typeof given !== 'object' || given === null) return before
  let unknown: string[] | undefined
  for (const name in given) {
    if (known.has(name)) continue
    unknown ??= [...before]
    unknown.push(name)
  }
  return unknown ?? before
}

/** The first names, and the number of the others. */
function listNames(names: readonly string[]): string {
  const shown = names.filter((name) => FIELD_NAME.test(name)).slice(0, MAX_NAMES)
  const others = names.length - shown.length
  return [...shown, ...(others > 0 ? [`+${others} more`] : [])].join(', ')
}

function refuser(
  body: ObjectSchema | undefined,
  query: ObjectSchema | undefined,
  older: readonly string[],
): Check {
  const parameters = namesOf(query)
  return (request, _reply, done) => {
    const parameter = Object.keys((request.query as object | undefined) ?? {}).find(
      (name) => !parameters.includes(name),
    )
    if (parameter !== undefined) {
      const elsewhere = namesOf(body).includes(parameter) ? ' It is a field of the body.' : ''
      return done(refusal(parameter, 'a query parameter of this route', parameters, elsewhere))
    }
    const field = unknownIn(request.body, body ?? { properties: {} }, older)
    if (!field) return done()
    const elsewhere = parameters.includes(field.path) ? ' It is a query parameter.' : ''
    done(refusal(field.path, 'a field of this request', field.known, elsewhere))
  }
}

function refusal(path: string, what: string, known: readonly string[], elsewhere: string): AppError {
  const name = path.split('.').at(-1)!
  const near = elsewhere || didYouMean(name.slice(0, MAX_SHOWN_NAME), known)
  const all = known.length === 0 ? ' There are none.' : ` Use ${known.slice(0, MAX_NAMES).join(', ')}.`
  return new AppError('invalid', `${path.slice(0, 2 * MAX_SHOWN_NAME)}: not ${what}.${near || all}`)
}

/** The first field, at any depth, that its schema does not list. Free-form objects have no such list. */
function unknownIn(
  value: unknown,
  schema: ObjectSchema,
  older: readonly string[] = [],
): { path: string; known: readonly string[] } | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { properties } = schema
  const inside = (name: string, part: unknown, its: ObjectSchema | undefined) => {
    const found = its && unknownIn(part, its)
    return found && { ...found, path: `${name}.${found.path}` }
  }
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const found = inside(String(i), item, schema.items)
      if (found) return found
    }
    return undefined
  }
  if (!properties || schema.additionalProperties) return undefined
  const known = Object.keys(properties)
  for (const [name, part] of Object.entries(value)) {
    if (!known.includes(name) && !older.includes(name)) return { path: name, known }
    const found = inside(name, part, properties[name])
    if (found) return found
  }
  return undefined
}

function namesOf(schema: ObjectSchema | undefined): string[] {
  return Object.keys(schema?.properties ?? {})
}
