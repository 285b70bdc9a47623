import { Type } from 'typebox'
import { HTTP_STATUS, MESSAGE_ERROR } from '../../core/errors.js'
import { type ErrorFamily, errorFamilyOf } from '../http/errors.js'
import { oneOf, optional, string } from '../http/schemas.js'
import type { Json } from './components.js'

/** The refusals in the API document. Answers are not serialised by these schemas. */

const message = string('What is wrong, with which value, and what to do')
const plain = { status: oneOf(['ERROR'], 'ERROR'), message }
const reason = optional(string('A code for programs, where one status has several causes'))
const error_url = string('Page that explains the error and what to do')
const again = string('The text of message again, as clients of messages read it')

const BODIES: Readonly<Record<ErrorFamily, Json>> = {
  plain: Type.Object({ ...plain, error: reason, error_message: optional(again) }, { title: 'Error' }),
  message: Type.Object(
    {
      ...plain,
      error_code: Type.Union([Type.Integer(), Type.String()], {
        description: `${MESSAGE_ERROR.validation} for a refused request, ${MESSAGE_ERROR.rateLimit} for one too many, ${MESSAGE_ERROR.internal} for a fault of the server; a few routes have a name instead`,
      }),
      error_message: again,
      error: reason,
    },
    { title: 'MessageError' },
  ),
  coded: Type.Object(
    {
      error: Type.Object({
        code: oneOf([...Object.keys(HTTP_STATUS), 'internal'], 'A code for programs'),
        message,
        details: optional(Type.Unknown({ description: 'More about the fault, on some routes' })),
      }),
      error_url,
    },
    { title: 'CodedError' },
  ),
}

const wait = {
  'Retry-After': { description: 'Seconds to wait before the next try', schema: { type: 'integer' } },
  'retry-after-ms': { description: 'Milliseconds to wait before the next try', schema: { type: 'integer' } },
}

/** Every status that a route may answer with, whatever it does. */
const STATUSES: Readonly<Record<number, { name: string; description: string; headers?: object }>> = {
  400: { name: 'BadRequest', description: 'The request is not valid. The message begins with the field.' },
  401: { name: 'Unauthorized', description: 'The key or token is missing, unknown, wrong or expired.' },
  403: { name: 'Forbidden', description: 'The key or token may not do this.' },
  404: { name: 'NotFound', description: 'It does not exist, or it belongs to another account.' },
  413: { name: 'TooLarge', description: 'The body is larger than this route allows.' },
  414: { name: 'PathTooLong', description: 'A part of the path is longer than 512 characters.' },
  415: { name: 'UnsupportedMediaType', description: 'This route does not read this Content-Type.' },
  422: { name: 'OtherBody', description: 'This Idempotency-Key was used before with another body.' },
  429: {
    name: 'TooMany',
    description: 'More requests than a budget allows, or too many wrong keys.',
    headers: wait,
  },
  503: {
    name: 'Unavailable',
    description: 'The server cannot take the request now. It has had no effect.',
    headers: wait,
  },
}

/** The refusals of an operation, by status. `extra` are those that only this operation has. */
export function refusalsOf(
  method: string,
  path: string,
  operation: Json,
  extra: Readonly<Record<number, string>>,
): Record<string, Json> {
  const hasKey = operation.security?.length !== 0
  const statuses = [
    400,
    ...(hasKey ? [401, 403, 429, 503] : []),
    // Without a simulated line, there is nothing under /sim.
    ...(path.startsWith('/sim/') ? [404] : []),
    ...(path.includes('{') ? [404, 414] : []),
    ...(operation.requestBody ? [413, 415] : []),
    ...(hasKey && method === 'post' ? [422] : []),
  ]
  const shared = statuses.map((status) => [
    status,
    method === 'head'
      ? { description: STATUSES[status]!.description }
      : { $ref: `#/components/responses/${nameOf(errorFamilyOf(path, status), status)}` },
  ])
  const own = Object.entries(extra).map(([status, description]) => [
    status,
    answer(errorFamilyOf(path, Number(status)), { description, headers: STATUSES[Number(status)]?.headers }),
  ])
  return Object.fromEntries([...shared, ...own])
}

/** The refusals that operations refer to. */
export function sharedRefusals(): Record<string, Json> {
  return Object.fromEntries(
    (Object.keys(BODIES) as ErrorFamily[]).flatMap((family) =>
      Object.entries(STATUSES)
        .filter(([status]) => family !== 'message' || status !== '401')
        .map(([status, { description, headers }]) => [
          nameOf(family, Number(status)),
          answer(family, { description, headers }),
        ]),
    ),
  )
}

function nameOf(family: ErrorFamily, status: number): string {
  const prefix = { plain: '', message: 'Message', coded: 'Coded' }[family]
  return `${prefix}${STATUSES[status]!.name}`
}

function answer(
  family: ErrorFamily,
  { description, headers }: { description: string; headers?: object },
): Json {
  return {
    description,
    ...(headers ? { headers } : {}),
    content: { 'application/json': { schema: BODIES[family] } },
  }
}
