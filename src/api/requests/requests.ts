import { type Static, Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import { ADMINS, type LoggedRequest, MAX_BODY_MINUTES, STRANGERS } from '../../core/requests/request.js'
import type { Ctx } from '../../services/ctx.js'
import { keepBodies } from '../../services/requests/bodies.js'
import { findAccount } from '../../storage/accounts/accounts.js'
import { findRequest, listRequests, type RequestPlace } from '../../storage/requests/requests.js'
import { admin, IdParams, required } from '../admin/shared.js'
import { accountOf } from '../http/auth.js'
import { NextCursor, pageQuery } from '../http/cursor.js'
import { requireTime } from '../http/fields.js'
import { renderer } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { integer, nullable, optional, string } from '../http/schemas.js'

const route = routesOf('Requests', { access: 'account' })

const fields = {
  id: string('Id of the entry'),
  at: string("When the call arrived, ISO 8601, by the machine's clock"),
  method: string('HTTP method'),
  path: string('Path without its query; phone numbers are cut to their last four digits'),
  status: integer('HTTP status of the answer'),
  account_id: nullable(
    'string',
    'The account; null for callers with an admin key and for those without a valid key',
  ),
  key_id: nullable('string', 'The key, or the key behind a token or console session'),
  duration_ms: Type.Number({ description: 'Milliseconds until the answer began' }),
  request_id: string('What the log lines of the server show as req'),
  error_code: nullable('string', 'Code of the error; null if the call succeeded'),
  error_message: nullable('string', 'Its message, without phone numbers and values of the request'),
  ignored: nullable('string', 'Fields and parameters that the route does not know, as x-trunkline-ignored'),
}
const RequestWire = Type.Object(fields, { title: 'ApiCall' })
const RequestWithBodies = Type.Object(
  {
    ...fields,
    request_body: nullable('string', 'The first 4 KB without secrets; null unless bodies were kept'),
    response_body: nullable('string', 'The first 4 KB without secrets; null unless bodies were kept'),
  },
  { title: 'ApiCallWithBodies' },
)

const others = {
  id: textOf,
  account_id: ({ accountId }: LoggedRequest) =>
    accountId === STRANGERS || accountId === ADMINS ? null : accountId,
  duration_ms: ({ durationUs }: LoggedRequest) => durationUs / 1000,
  request_id: ({ id }: LoggedRequest) => id,
}
const requestWire = renderer<LoggedRequest>()(RequestWire, others)
const withBodies = renderer<LoggedRequest>()(RequestWithBodies, others)

const USUAL = 100
const MAX = 1000

const ListQuery = Type.Object({
  status: optional(
    string('Only this status, like 404, or class of statuses, like 4xx', { pattern: '^[1-5](\\d\\d|xx)$' }),
  ),
  method: optional(string('Only this HTTP method', { maxLength: 10 })),
  path: optional(string('Only paths that begin so', { maxLength: 200 })),
  since: optional(string('Only from this time on, ISO 8601')),
  ...pageQuery(MAX, USUAL),
})
const AdminQuery = Type.Object({
  account_id: optional(string('Only calls of this account; admin: those of admin keys')),
  ...ListQuery.properties,
})
const List = Type.Object({ data: Type.Array(RequestWire), next_cursor: NextCursor }, { title: 'ApiCalls' })

const BodyChange = Type.Object(
  {
    minutes: optional(
      integer(`How long bodies are kept from now on; default ${MAX_BODY_MINUTES}, 0 stops at once`, {
        minimum: 0,
        maximum: MAX_BODY_MINUTES,
      }),
    ),
  },
  { title: 'KeptBodiesChange' },
)
const BodyState = Type.Object(
  {
    until: nullable('string', 'Bodies of calls before this time are kept; null: no bodies'),
  },
  { title: 'KeptBodies' },
)

const NO_LOG = 'This server keeps no request log.'

const KEPT =
  'Entries are written every second and kept for TRUNKLINE_REQUEST_DAYS. Calls that the console reads with are left out.'

/** The log of API calls. */
export function registerRequests(app: Routes, ctx: Ctx): void {
  const list = async (query: Static<typeof ListQuery>, accountId: string | undefined) => {
    requireLog(ctx)
    const limit = Math.min(query.limit ?? USUAL, MAX)
    const filter = {
      accountId,
      status: query.status === undefined ? undefined : statusesOf(query.status),
      method: query.method?.toUpperCase(),
      path: query.path,
      since: query.since === undefined ? undefined : requireTime('since', query.since),
      before: query.cursor === undefined ? undefined : placeIn('cursor', query.cursor),
    }
    await ctx.requestLog.flush()
    const rows = await listRequests(ctx.db.aside(accountId ?? ADMINS), filter, limit)
    return {
      data: rows.map(requestWire),
      next_cursor: rows.length < limit ? null : textOf(rows.at(-1)!),
    }
  }
  const show = async (text: string, accountId: string | undefined) => {
    requireLog(ctx)
    await ctx.requestLog.flush()
    const found = await findRequest(ctx.db, placeIn('id', text), accountId)
    return withBodies(required(found, 'request', text))
  }

  app.get(
    '/v3/requests',
    route({
      operationId: 'listApiCalls',
      summary: 'List API calls of the account',
      description: `Newest first. ${KEPT}`,
      errors: { 404: NO_LOG },
      querystring: ListQuery,
      response: { 200: List },
    }),
    async (request) => list(request.query, accountOf(request).id),
  )
  app.get(
    '/v3/requests/:id',
    route({
      operationId: 'getApiCall',
      summary: 'Show an API call',
      params: IdParams,
      response: { 200: RequestWithBodies },
    }),
    async (request) => show(request.params.id, accountOf(request).id),
  )
  app.put(
    '/v3/requests/bodies',
    route({
      operationId: 'keepBodies',
      summary: 'Keep bodies of API calls for a while',
      description:
        'For at most an hour. Bodies hold phone numbers and contents; values of fields that look like secrets are left out, and the routes of one-time codes, tokens and signing secrets keep none.',
      example: { minutes: 15 },
      errors: { 404: NO_LOG },
      body: BodyChange,
      optionalBody: true,
      response: { 200: BodyState },
    }),
    async (request) => changeBodies(ctx, [accountOf(request).id], request.body.minutes),
  )
  app.get(
    '/admin/requests',
    admin({
      operationId: 'listAllApiCalls',
      summary: 'List API calls of all accounts',
      description: `Newest first, with calls of admin keys and of callers without a valid key. ${KEPT}`,
      errors: { 404: NO_LOG },
      querystring: AdminQuery,
      response: { 200: List },
    }),
    async ({ query }) => list(query, query.account_id),
  )
  app.get(
    '/admin/requests/:id',
    admin({
      operationId: 'getAnyApiCall',
      summary: 'Show an API call of any account',
      params: IdParams,
      response: { 200: RequestWithBodies },
    }),
    async (request) => show(request.params.id, undefined),
  )
  app.put(
    '/admin/accounts/:id/request-bodies',
    admin({
      operationId: 'keepBodiesOfAccount',
      summary: 'Keep bodies of API calls of an account and its test world for a while',
      params: IdParams,
      example: { minutes: 15 },
      body: BodyChange,
      optionalBody: true,
      response: { 200: BodyState },
    }),
    async (request) => {
      const account = required(await findAccount(ctx.db, request.params.id), 'account', request.params.id)
      return changeBodies(ctx, [account.id, account.twinId], request.body.minutes)
    },
  )
}

const bodyState = renderer<{ until: number | null }>()(BodyState, {})

async function changeBodies(ctx: Ctx, accountIds: readonly string[], minutes = MAX_BODY_MINUTES) {
  requireLog(ctx)
  return bodyState({ until: await keepBodies(ctx, accountIds, minutes) })
}

function requireLog({ config }: Ctx): void {
  if (config.requestDays === 0)
    throw new AppError('not_found', 'This server keeps no request log: TRUNKLINE_REQUEST_DAYS is 0.')
}

function statusesOf(text: string): [number, number] {
  if (!text.endsWith('xx')) return [Number(text), Number(text)]
  const first = Number(text[0]) * 100
  return [first, first + 99]
}

function textOf({ at, id }: RequestPlace): string {
  return `${at}-${id}`
}

function placeIn(field: string, text: string): RequestPlace {
  const match = /^(\d{1,15})-([\w-]{1,60})$/.exec(text)
  if (match) return { at: Number(match[1]), id: match[2]! }
  throw new AppError(
    'invalid',
    field === 'cursor'
      ? 'cursor: must be next_cursor of the previous page'
      : 'id: must be an id of GET /v3/requests',
  )
}
