import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
// @ts-expect-error: scripts have no types.
import { inlined } from '../../scripts/inlined.js'
import { hoistSchemas } from '../../src/api/document/components.js'
import { createWorld, type Json, LINE, type Reply, type World } from '../support/world.js'

const document: Json = JSON.parse(readFileSync('openapi.json', 'utf8'))
const operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
  Object.entries<Json>(item).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
)

describe('names of operations', () => {
  it('are there, unique, and words in camel case', () => {
    const ids = [
      ...operations.map(({ operation }) => operation.operationId),
      ...Object.values<Json>(document.webhooks).map(({ post }) => post.operationId),
    ]
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !/^[a-z]+([A-Z][A-Za-z0-9]*)*$/.test(id))).toEqual([])
  })
})

describe('shared schemas', () => {
  it('stand in one place: no object of several fields is written out twice', () => {
    const seen = new Map<string, string>()
    const repeated: string[] = []
    const visit = (part: Json, where: string): void => {
      if (typeof part !== 'object' || part === null) return
      if (part.type === 'object' && Object.keys(part.properties ?? {}).length > 1) {
        const { description: _, ...schema } = part
        const key = JSON.stringify(schema)
        if (seen.has(key)) repeated.push(`${where} is ${seen.get(key)}. Give the schema a title.`)
        seen.set(key, where)
      }
      for (const [key, value] of Object.entries(part)) visit(value, `${where}/${key}`)
    }
    visit({ paths: document.paths, schemas: document.components.schemas }, '')
    expect(repeated).toEqual([])
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(['Message', 'Contact', 'Pagination', 'Error', 'MessageError', 'CodedError']),
    )
  })

  it('are all referred to, and every reference leads somewhere', () => {
    const text = JSON.stringify(document)
    for (const kind of ['schemas', 'responses', 'parameters'])
      for (const name of Object.keys(document.components[kind]))
        expect(text).toContain(`"#/components/${kind}/${name}"`)
    expect(() => inlined(document)).not.toThrow()
  })

  it('cannot have one title for two shapes', () => {
    const one = { title: 'Thing', type: 'object', properties: { a: {} } }
    const schemas = {}
    expect(hoistSchemas({ description: 'A', ...one }, schemas)).toEqual({
      $ref: '#/components/schemas/Thing',
      description: 'A',
    })
    expect(schemas).toEqual({ Thing: { type: 'object', properties: { a: {} } } })
    expect(() => hoistSchemas({ ...one, properties: { b: {} } }, schemas)).toThrow('the title Thing')
  })
})

describe('headings', () => {
  it('are described, and Messages comes first', () => {
    const names = document.tags.map((tag: Json) => tag.name)
    expect(names[0]).toBe('Messages')
    expect([...new Set(operations.flatMap(({ operation }) => operation.tags))].sort()).toEqual(names.sort())
  })

  it('have servers', () => {
    expect(document.servers.map((server: Json) => server.url)).toEqual(['/', 'http://127.0.0.1:4040'])
  })
})

describe('refusals', () => {
  let world: World
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  beforeAll(async () => {
    ajv.addSchema(document, 'document')
    world = await createWorld('sqlite')
  })
  afterAll(() => world?.close())

  it.each(operations)('are described for $name', ({ operation }) => {
    expect(Object.keys(operation.responses).filter((status) => status.startsWith('4'))).not.toEqual([])
  })

  /** Whether a body is what the document says of this answer. */
  const check = (method: string, path: string, { status, body }: Reply): void => {
    const found = document.paths[path][method.toLowerCase()].responses[status]
    const name = found.$ref?.split('/').at(-1)
    const { schema } = (name ? document.components.responses[name] : found).content['application/json']
    const validate = ajv.compile({ $ref: `document${schema.$ref}`, unevaluatedProperties: false })
    validate(body)
    expect(validate.errors, `${method} ${path} ${status} ${JSON.stringify(body)}`).toBe(null)
  }

  it.each([
    ['GET', '/api/v2/messages', '/api/v2/messages', 401],
    ['GET', '/api/v2/messages', '/api/v2/messages?limit=x', 400],
    ['GET', '/api/status', '/api/status?handle=none', 404],
    ['POST', '/api/send-message', '/api/send-message', 400],
    ['POST', '/api/send-reaction', '/api/send-reaction', 400],
    ['GET', '/api/v2/contacts/{phone_number}', '/api/v2/contacts/+12025550177', 404],
    ['GET', '/v3/messages/{handle}', '/v3/messages/none', 404],
    ['GET', '/admin/keys', '/admin/keys', 403],
    ['GET', '/v3/lines', '/v3/lines', 401],
    ['POST', '/sim/phones', '/sim/phones', 400],
  ] as const)('%s %s answers as described: %s', async (method, path, url, status) => {
    const reaction = { from_number: LINE, message_handle: 'none', reaction: 'applause' }
    const body = { body: path === '/api/send-reaction' ? reaction : {} }
    const as = status === 401 ? null : 'live'
    const reply = await world.call(method, url, { as, ...(method === 'POST' ? body : {}) })
    expect(reply.status).toBe(status)
    check(method, path, reply)
  })
})
