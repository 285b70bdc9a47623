import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
// @ts-expect-error: scripts have no types.
import { answerTypes, FILE } from '../../scripts/answer-types.js'
// @ts-expect-error: scripts have no types.
import { inlined } from '../../scripts/inlined.js'
import { createWorld, type Json, type World } from '../support/world.js'

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']
const committed: Json = JSON.parse(readFileSync('openapi.json', 'utf8'))

const whole: Json = inlined(committed)

const operations: { name: string; path: string; operation: Json }[] = Object.entries<Json>(
  whole.paths,
).flatMap(([path, item]) =>
  Object.entries<Json>(item).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
)

let world: World
beforeAll(async () => {
  world = await createWorld('sqlite', { document: true })
})
afterAll(() => world?.close())

describe('the committed document', () => {
  it('is what the routes say, and what the server serves', async () => {
    expect(committed).toEqual(JSON.parse(JSON.stringify(world.app.server.swagger())))
    const served = await world.call('GET', '/openapi.json', { as: null })
    expect(served.status).toBe(200)
    expect(served.headers['content-type']).toContain('application/json')
    expect(served.body).toEqual(committed)
  })

  it('lets a request come without a body where the server does', () => {
    const isRequired = (path: string) => whole.paths[path].post.requestBody.required === true
    expect(['/sim/reset', '/v3/auth/tokens', '/api/send-message'].map(isRequired)).toEqual([
      false,
      false,
      true,
    ])
  })

  it('has every route of the router, and no other', () => {
    // HEAD of a health check is GET without a body, and is not described on its own.
    const routes = routesOf(world.app.server.printRoutes({ commonPrefix: false })).filter(
      (route) =>
        !/^head \/(livez|readyz)$| \/docs(\/|$)| \/$| \/console\*?$| \/callbacks\/.*\*$| \/mobile\/v1\//.test(
          route,
        ),
    )
    expect(routes.length).toBeGreaterThan(25)
    expect(operations.map(({ name }) => name).sort()).toEqual(routes.sort())
  })
})

describe('the shape of OpenAPI 3.1', () => {
  it('has its head', () => {
    expect(committed.openapi).toMatch(/^3\.1\.\d+$/)
    expect(committed.info).toMatchObject({
      title: expect.stringMatching(/./),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    })
    expect(committed.info.version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version)
    for (const path of Object.keys(committed.paths)) expect(path).toMatch(/^\/[^:?#]*$/)
    expect(operations.every(({ name }) => METHODS.includes(name.split(' ')[0]!))).toBe(true)
  })

  it('names security schemes that are there', () => {
    const schemes = Object.keys(committed.components.securitySchemes)
    const used = [committed, ...operations.map(({ operation }) => operation)].flatMap(
      (part) => part.security ?? [],
    )
    expect(used.length).toBeGreaterThan(0)
    for (const requirement of used) expect(schemes).toEqual(expect.arrayContaining(Object.keys(requirement)))
  })

  it.each(operations)('is kept by $name', ({ path, operation }) => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    const parameters: Json[] = operation.parameters ?? []
    expect(
      parameters
        .filter((one) => one.in === 'path')
        .map((one) => one.name)
        .sort(),
    ).toEqual(inPath.sort())
    expect(new Set(parameters.map((one) => `${one.in} ${one.name}`)).size).toBe(parameters.length)
    for (const one of parameters) {
      expect(['path', 'query', 'header', 'cookie']).toContain(one.in)
      if (one.in === 'path') expect(one.required).toBe(true)
      checkSchema(one.schema, one.name)
    }
    const statuses = Object.keys(operation.responses)
    expect(statuses.length).toBeGreaterThan(0)
    for (const status of statuses) {
      expect(status).toMatch(/^([1-5]\d\d|default)$/)
      expect(typeof operation.responses[status].description).toBe('string')
    }
    for (const { schema, where } of bodies(operation)) checkSchema(schema, where)
  })
})

describe('what a reader needs', () => {
  it.each(operations)('is said about $name', ({ operation }) => {
    expect(operation.summary).toMatch(/\S/)
    expect(operation.tags).toHaveLength(1)
    expect(operation.tags[0]).toMatch(/\S/)
    for (const one of operation.parameters ?? []) expect(one.description, one.name).toMatch(/\S/)
    for (const { schema, where } of bodies(operation)) {
      for (const field of fieldsOf(schema, where)) expect(field.description, field.where).toMatch(/\S/)
    }
  })

  it('includes the older names of fields, marked as such', () => {
    const { schema } = whole.paths['/api/send-message'].post.requestBody.content['application/json']
    const deprecated = Object.keys(schema.properties).filter((name) => schema.properties[name].deprecated)
    expect(deprecated.sort()).toEqual(
      [
        ...['recipient', 'to', 'to_number', 'fromNumber', 'from', 'sendblue_number'],
        ...['mediaUrl', 'mediaURL', 'sendStyle', 'statusCallback'],
      ].sort(),
    )
    expect(schema.properties.recipient).toMatchObject({ type: 'string', description: 'Older name of number' })
    expect(schema.properties.sendStyle.enum).toEqual(schema.properties.send_style.enum)
    expect(schema.required).toEqual(['number', 'from_number'])
    const handle = committed.paths['/api/status'].get.parameters.find(
      (one: Json) => one.name === 'message_handle',
    )
    expect(handle.deprecated ?? handle.schema.deprecated).toBe(true)
  })

  it.each([
    ...['GET /accounts/contacts', 'POST /accounts/contacts', 'GET /accounts/contacts/{contact_id}'],
    ...['GET /api/message/{message_handle}', 'GET /accounts/messages', 'GET /api/accounts/messages'],
  ])('marks %s as deprecated, and names the current path', (route) => {
    const [method, path] = route.split(' ') as [string, string]
    const { deprecated, description } = committed.paths[path][method.toLowerCase()]
    expect([deprecated, description]).toEqual([true, expect.stringMatching(/Use (GET|POST) \/api\/v2\//)])
  })

  it('is not part of validation: an older name still works, and a wrong value in its shadow does not matter', async () => {
    const fields = {
      from_number: undefined,
      number: undefined,
      recipient: '+12025550101',
      fromNumber: '+12025550100',
    }
    expect(await world.send(fields)).toMatchObject({ status: 'QUEUED', to_number: '+12025550101' })
    expect(await world.send({ recipient: 42 })).toMatchObject({ status: 'QUEUED', to_number: '+12025550101' })
  })
})

describe('npm run openapi', () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'trunkline-document-'))
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/openapi.js', ...args], { encoding: 'utf8' })

  it('writes the same document every time', () => {
    const file = join(directory, 'fresh.json')
    expect(run(file)).toMatchObject({ status: 0, stderr: '' })
    expect(readFileSync(file, 'utf8')).toBe(readFileSync('openapi.json', 'utf8'))
    expect(run('--check', file)).toMatchObject({ status: 0, stderr: '' })
  })

  it('fails a check of a file that differs or is missing, says what to do, and writes nothing', () => {
    const file = join(directory, 'stale.json')
    const stale = readFileSync('openapi.json', 'utf8').replace('Send a message', 'Send some message')
    writeFileSync(file, stale)
    const checked = run('--check', file)
    expect(checked.status).toBe(1)
    expect(checked.stderr).toContain('stale.json is not what the routes say. Run "npm run openapi"')
    expect(readFileSync(file, 'utf8')).toBe(stale)
    expect(run('--check', join(directory, 'missing.json')).status).toBe(1)
  })
})

describe("the console's types", () => {
  it('are what the document says, and name only routes that exist', () => {
    expect(readFileSync(FILE, 'utf8')).toBe(answerTypes(committed))
    const { '/v3/lines': _, ...paths } = committed.paths
    expect(() => answerTypes({ ...committed, paths })).toThrow('GET /v3/lines: the console uses this route')
  })

  it('follow the schemas: unions, nulls, lists and optional fields', () => {
    const text = { type: 'string' }
    const schema = {
      type: 'object',
      required: ['data'],
      properties: {
        data: { type: 'array', items: { anyOf: [{ type: ['integer', 'null'] }, { enum: ['a', 'b'] }] } },
        more: { type: 'object', additionalProperties: text },
        any: {},
      },
    }
    const paths = structuredClone(committed.paths)
    paths['/v3/lines'].get.responses['200'].content['application/json'].schema = schema
    expect(answerTypes({ ...committed, paths })).toContain(
      "'GET /v3/lines': { data: Array<number | null | 'a' | 'b'>; more?: Record<string, string>; any?: unknown }\n",
    )
  })
})

/** `method /path/{param}` of every line of the router's own drawing. */
function routesOf(tree: string): string[] {
  const routes: string[] = []
  const above: string[] = []
  for (const line of tree.split('\n').filter((line) => line.trim() !== '')) {
    const match = /^((?:│ {3}| {4})*)[├└]── (\S*)(?: \(([A-Z, ]+)\))?$/.exec(line)
    if (!match) throw new Error(`A line of the router's drawing that nobody understands: ${line}`)
    const [, indent, part, methods] = match as unknown as [string, string, string, string | undefined]
    const depth = indent.length / 4
    above.length = depth
    above.push(part)
    const path = above.join('').replace(/:(\w+)/g, '{$1}')
    for (const method of methods?.split(', ') ?? []) routes.push(`${method.toLowerCase()} ${path}`)
  }
  return routes
}

function bodies(operation: Json): { schema: Json; where: string }[] {
  const parts = [operation.requestBody, ...Object.values<Json>(operation.responses)].filter(
    (part) => part?.content,
  )
  return parts.flatMap((part) =>
    Object.entries<Json>(part.content).map(([where, { schema }]) => ({ schema, where })),
  )
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

/** The keywords this document uses mean what JSON Schema 2020-12 says. */
function checkSchema(schema: Json, where: string): void {
  expect(typeof schema, where).toBe('object')
  // Gone in 3.1: a type list says it.
  expect(schema, where).not.toHaveProperty('nullable')
  if (schema.type !== undefined) expect(TYPES, where).toEqual(expect.arrayContaining([schema.type].flat()))
  if (schema.enum !== undefined) expect(schema.enum.length, where).toBeGreaterThan(0)
  if (schema.type === 'array') expect(schema.items, where).toBeDefined()
  if (schema.required !== undefined)
    expect(Object.keys(schema.properties), where).toEqual(expect.arrayContaining(schema.required))
  for (const [name, field] of Object.entries<Json>(schema.properties ?? {}))
    checkSchema(field, `${where}.${name}`)
  for (const part of [schema.items, ...(schema.anyOf ?? []), ...(schema.allOf ?? [])])
    if (part) checkSchema(part, where)
}

/** Fields that hold values; one that holds fields or rows of its own is described by them. */
function fieldsOf(schema: Json, where: string): { where: string; description: string | undefined }[] {
  return Object.entries<Json>(schema.properties ?? {}).flatMap(([name, field]) => {
    const inner = field.type === 'array' ? field.items : field
    const nested = inner?.properties ? fieldsOf(inner, `${where}.${name}`) : []
    return nested.length > 0 ? nested : [{ where: `${where}.${name}`, description: field.description }]
  })
}
