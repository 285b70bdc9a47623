import { Type } from 'typebox'
import { AUDIT_ACTORS, type AuditRow } from '../../core/audit/audit.js'
import { AppError } from '../../core/errors.js'
import type { Ctx } from '../../services/ctx.js'
import { findEnds, listRows } from '../../storage/audit/audit.js'
import { admin } from '../admin/shared.js'
import { NextCursor, pageQuery } from '../http/cursor.js'
import { requireTime } from '../http/fields.js'
import { renderer } from '../http/render.js'
import type { Routes } from '../http/routes.js'
import { integer, nullable, oneOf, optional, string } from '../http/schemas.js'

const AuditWire = Type.Object(
  {
    seq: integer('Position in the log; no number is left out'),
    at: string("When the change began, ISO 8601, by the machine's clock"),
    actor: oneOf(
      AUDIT_ACTORS,
      'key, token, console (a session of the console), cli (a command with --offline) or server (Trunkline itself)',
    ),
    actor_id: nullable('string', 'Id of the key, token or session; null for cli and server'),
    key_id: nullable('string', 'The key, or the key behind the token or session; null for cli and server'),
    account_id: nullable('string', 'The account that the key acts for; null for an admin'),
    seat_id: nullable(
      'string',
      'The seat that the person at the console chose; null for keys and tokens, which do not say who uses them',
    ),
    address: nullable(
      'string',
      'Address of the other end of the connection. Behind a proxy it is that of the proxy or, if TRUNKLINE_TRUST_PROXY names the proxy, that of the client. Null for cli and server',
    ),
    forwarded_for: nullable(
      'string',
      'The header Forwarded, X-Forwarded-For or X-Real-IP as it came. Believe it only if your proxy sets it',
    ),
    action: string(
      'Method and route; `trunkline init`; or `end development keys`, which the server does by itself',
    ),
    object: nullable('string', 'Ids from the path, and the id of what was created'),
    fields: nullable('string', 'Names of the fields that the request gave, without their values'),
    status: nullable(
      'integer',
      'HTTP status of the answer; null if the process stopped before it answered, so that the change may or may not have been made',
    ),
    hash: string('SHA-256 of this row and the hash of the row before it'),
  },
  { title: 'AuditEntry' },
)

const Link = (description: string) =>
  Type.Object(
    { seq: integer('Number of the row'), hash: string('Its hash') },
    { title: 'AuditPoint', description },
  )

const auditWire = renderer<AuditRow>()(AuditWire, {})

const USUAL = 100
const MAX = 1000

/** Who changed what. */
export function registerAuditLog(app: Routes, ctx: Ctx): void {
  app.get(
    '/admin/audit',
    admin({
      operationId: 'listAuditLog',
      summary: 'List the audit log',
      description:
        'Every request that changed something outside the life of a message, or that was refused with 403. Rows are only appended, and each hash covers the row before it; `trunkline audit verify` checks the chain. TRUNKLINE_AUDIT_DAYS says how long rows are kept.',
      querystring: Type.Object({
        account_id: optional(string('Only changes by keys of this account')),
        key_id: optional(string('Only changes by this key, its tokens and its console sessions')),
        action: optional(string('Only this method and route, like POST /admin/keys')),
        object: optional(string('Only changes to this object')),
        since: optional(string('Only from this time on, ISO 8601')),
        until: optional(string('Only before this time, ISO 8601')),
        order: optional(oneOf(['desc', 'asc'], 'desc (default): newest first; asc: oldest first')),
        ...pageQuery(MAX, USUAL),
      }),
      response: {
        200: Type.Object({
          data: Type.Array(AuditWire),
          next_cursor: NextCursor,
          head: Link('The newest row of the log'),
          anchor: Link('The last row that was removed because of its age; number 0 if none was'),
        }),
      },
    }),
    async ({ query }) => {
      const limit = Math.min(query.limit ?? USUAL, MAX)
      const ends = await findEnds(ctx.db)
      const filter = {
        accountId: query.account_id,
        keyId: query.key_id,
        action: query.action,
        object: query.object,
        since: bound('since', query.since),
        until: bound('until', query.until),
      }
      const order = query.order === 'asc' ? 'asc' : 'desc'
      const rows = await listRows(ctx.db, filter, order, seqIn(query.cursor), limit)
      return {
        data: rows.map(auditWire),
        next_cursor: rows.length < limit ? null : String(rows.at(-1)!.seq),
        ...ends,
      }
    },
  )
}

function bound(field: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : requireTime(field, text)
}

function seqIn(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  if (!/^\d{1,15}$/.test(cursor))
    throw new AppError('invalid', 'cursor: must be next_cursor of the previous page')
  return Number(cursor)
}
