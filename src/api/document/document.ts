import { STATUS_CODES } from 'node:http'
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { VERSION } from '../../base/version.js'
import { hoistSchemas, type Json } from './components.js'
import { refusalsOf, sharedRefusals } from './errors.js'
import { TAGS } from './tags.js'
import { webhookItems } from './webhooks.js'

/** How the API document is made from the routes. */
export const DOCUMENT: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Trunkline',
      version: VERSION,
      description: 'One HTTP API for iMessage, SMS, MMS and RCS through phone lines you own.',
    },
    servers: [
      { url: '/', description: 'The server that serves this document' },
      { url: 'http://127.0.0.1:4040', description: 'A server on this machine, as npm start runs it' },
    ],
    tags: TAGS,
    components: {
      securitySchemes: {
        keyId: { type: 'apiKey', in: 'header', name: 'sb-api-key-id' },
        keySecret: { type: 'apiKey', in: 'header', name: 'sb-api-secret-key' },
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A temporary token, see POST /v3/auth/tokens',
        },
        basic: {
          type: 'http',
          scheme: 'basic',
          description: "A key's id as user and its secret as password, on the routes that list it",
        },
      },
    },
    security: [{ keyId: [], keySecret: [] }, { token: [] }],
  },
  transformObject: (made) => finish((made as { openapiObject: Json }).openapiObject),
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Names this request: a repeat within 48 hours under the same key gets the first answer',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

/** Adds what the routes themselves do not say: refusals, webhooks and shared schemas. */
function finish(document: Json): Json {
  const schemas: Record<string, Json> = {}
  const paths = Object.entries<Json>(document.paths).map(([path, item]) => {
    const operations = Object.entries<Json>(item).map(([method, made]) => [
      method,
      hoistSchemas(operationOf(method, path, made), schemas),
    ])
    return [path, Object.fromEntries(operations)]
  })
  const webhooks = hoistSchemas(webhookItems(), schemas)
  const responses = hoistSchemas(sharedRefusals(), schemas)
  return {
    ...document,
    paths: Object.fromEntries(paths),
    webhooks,
    components: {
      securitySchemes: document.components.securitySchemes,
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
      responses,
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  }
}

/** A route of two methods has one operation for both. */
function operationOf(method: string, path: string, made: Json): Json {
  const {
    'x-example': example,
    'x-errors': errors = {},
    'x-optional-body': mayBeEmpty,
    ...operation
  } = structuredClone(made)
  if (method === 'head') operation.operationId += 'Head'
  if (mayBeEmpty && operation.requestBody) operation.requestBody.required = false
  if (example) operation.requestBody.content['application/json'].example = example
  const takesKey = method === 'post' && operation.security?.length !== 0
  if (takesKey)
    operation.parameters = [
      ...(operation.parameters ?? []),
      { $ref: '#/components/parameters/IdempotencyKey' },
    ]
  for (const [status, answer] of Object.entries<Json>(operation.responses))
    if (answer.description === 'Default Response') answer.description = STATUS_CODES[status] ?? status
  return {
    ...operation,
    responses: { ...refusalsOf(method, path, operation, errors), ...operation.responses },
  }
}
