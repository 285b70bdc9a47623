import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
// @ts-expect-error: scripts have no types.
import { inlined } from '../../scripts/inlined.js'
import { isStream, sample } from '../support/samples.js'
import { createWorld, ENGINES, type Json, type Reply, type World } from '../support/world.js'

/**
 * Every operation of the API document gets every kind of wrong value in every field: whatever the answer is, it
 * is not the server's fault, it says in JSON what is wrong, and the document describes its status.
 */
const { paths } = inlined(JSON.parse(readFileSync('openapi.json', 'utf8')))
const operations = Object.entries<Json>(paths).flatMap(([path, item]) =>
  Object.entries<Json>(item)
    .filter(([, operation]) => !isStream(operation))
    .map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, method, path, operation })),
)

const WRONG: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  '',
  ' ',
  'x',
  'x'.repeat(70_000),
  'a\u0000b',
  '\ud800',
  "' or 1=1 --",
  '%_*../..',
  [],
  [null],
  {},
  { a: { b: [1] } },
]
const WRONG_TEXT = WRONG.filter((value) => typeof value !== 'object').map(String)
const WRONG_BODIES = ['', 'null', '[]', '"x"', '1', '{', '{"a":', `${'['.repeat(100)}${']'.repeat(100)}`]

describe.each(ENGINES)('bad input on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const call = (method: string, path: string, body?: unknown, raw?: string) =>
    world.call(method.toUpperCase(), path, {
      as: path.startsWith('/admin') ? 'admin' : 'live',
      ...(raw === undefined ? (body === undefined ? {} : { body }) : { body: raw }),
      ...(raw === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
    })

  it.each(operations)('$name', async ({ method, path, operation }) => {
    const faults: string[] = []
    const check = (reply: Reply, what: string) => {
      const said = reply.body?.message ?? reply.body?.error?.message
      const explained = reply.status < 400 || (typeof said === 'string' && said !== '')
      const described = reply.status < 400 || String(reply.status) in operation.responses
      if (reply.status >= 500 || !explained || !described)
        faults.push(`${what}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 200)}`)
    }
    const target = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(sample(name, {}))))
    const parameters: Json[] = operation.parameters ?? []

    for (const { name } of parameters.filter((one) => one.in === 'path')) {
      for (const value of WRONG_TEXT.filter((text) => text !== '' && text.isWellFormed())) {
        const text = encodeURIComponent(value.slice(0, 3000))
        const at = path
          .replace(`{${name}}`, text)
          .replace(/\{(\w+)\}/g, (_, other) => sample(other, {}) as string)
        check(await call(method, at, bodyOf(operation)), `path ${name}=${value.slice(0, 20)}`)
      }
    }
    const query = parameters.filter((one) => one.in === 'query')
    const given = query
      .filter((one) => one.required)
      .map((one) => [one.name, String(sample(one.name, one.schema))])
    for (const { name } of query) {
      for (const value of WRONG_TEXT.filter((text) => text.isWellFormed())) {
        const asked = new URLSearchParams([
          ...given.filter(([other]) => other !== name),
          [name, value.slice(0, 3000)],
        ] as [string, string][])
        check(
          await call(method, `${target}?${asked}`, bodyOf(operation)),
          `query ${name}=${value.slice(0, 20)}`,
        )
      }
    }
    const schema = schemaOf(operation)
    if (schema) {
      for (const raw of WRONG_BODIES)
        check(await call(method, target, undefined, raw), `body ${raw.slice(0, 20)}`)
      const base = sample('', schema) as Record<string, unknown>
      for (const field of fieldsOf(schema)) {
        for (const value of WRONG) {
          const body = structuredClone(base)
          put(body, field, value)
          check(
            await call(method, target, body),
            `${field.join('.')}=${String(JSON.stringify(value)).slice(0, 30)}`,
          )
        }
      }
    }
    expect(faults).toEqual([])
    expect(world.logs.filter((line) => line.includes('"request failed"'))).toEqual([])
  })
})

function schemaOf(operation: Json): Json | undefined {
  return operation.requestBody?.content?.['application/json']?.schema
}

function bodyOf(operation: Json): unknown {
  const schema = schemaOf(operation)
  return schema && sample('', schema)
}

/** Paths of all fields, the older names of fields among them, down to the second level. */
function fieldsOf(schema: Json, above: string[] = []): string[][] {
  return Object.entries<Json>(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = [...above, name]
    const inner = field.type === 'array' ? field.items : field
    return [here, ...(above.length < 1 && inner?.properties ? fieldsOf(inner, here) : [])]
  })
}

function put(body: Json, path: string[], value: unknown): void {
  let at = body
  for (const name of path.slice(0, -1)) {
    at[name] ??= {}
    at = Array.isArray(at[name]) ? at[name][0] : at[name]
    if (typeof at !== 'object' || at === null) return
  }
  at[path.at(-1)!] = value
}
