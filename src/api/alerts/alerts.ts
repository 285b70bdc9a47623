import { Type } from 'typebox'
import type { Alert } from '../../core/alerts/alert.js'
import type { Ctx } from '../../services/ctx.js'
import { type AlertCursor, listAlerts } from '../../storage/alerts/alerts.js'
import { admin } from '../admin/shared.js'
import { accountOf } from '../http/auth.js'
import { badCursor, NextCursor, pageQuery } from '../http/cursor.js'
import { type Routes, routesOf } from '../http/routes.js'
import { optional, string } from '../http/schemas.js'
import { AlertWire, alertWire } from './wire.js'

const route = routesOf('Account', { access: 'account' })

const MAX = 500
const USUAL = 100
const Query = Type.Object(pageQuery(MAX, USUAL))
const AdminQuery = Type.Object({
  account_id: optional(string('Only this account, test account or world', { maxLength: 64 })),
  ...pageQuery(MAX, USUAL),
})
const List = Type.Object({ data: Type.Array(AlertWire), next_cursor: NextCursor }, { title: 'Alerts' })

const ABOUT =
  'line.offline: a line has been offline for 5 minutes, and is not blocked. queue.age: the oldest message for a line has been waiting for 10 minutes. webhook.failing: every post to a webhook has failed for 10 minutes. quota.near: 80 % of the budget daily are used. The facts are those of the beginning. Webhooks of the type alert and the event stream tell when an alert begins and when it ends.'

/** Conditions of accounts that last. */
export function registerAlerts(app: Routes, ctx: Ctx): void {
  const page = async (
    accountId: string | undefined,
    { cursor, limit = USUAL }: { cursor?: string; limit?: number },
  ) => {
    const most = Math.min(limit, MAX)
    const after = cursor === undefined ? undefined : placeIn(cursor)
    const alerts = await listAlerts(ctx.db, accountId, after, most)
    return {
      data: alerts.map(alertWire),
      next_cursor: alerts.length < most ? null : placeText(alerts.at(-1)!),
    }
  }
  app.get(
    '/v3/alerts',
    route({
      operationId: 'listAlerts',
      summary: 'List the alerts of the account that hold now',
      description: ABOUT,
      querystring: Query,
      response: { 200: List },
    }),
    (request) => page(accountOf(request).id, request.query),
  )
  app.get(
    '/admin/alerts',
    admin({
      operationId: 'listAlertsOfAccounts',
      summary: 'List the alerts of all accounts that hold now',
      description: `By account. ${ABOUT}`,
      querystring: AdminQuery,
      response: { 200: List },
    }),
    ({ query: { account_id: accountId, ...query } }) => page(accountId, query),
  )
}

const placeText = ({ accountId, kind, subject }: Alert) => `${accountId}/${kind}/${subject}`

function placeIn(cursor: string): AlertCursor {
  const match = /^([\w-]{1,64})\/([\w.]{1,32})\/([\w-]{1,64})$/.exec(cursor)
  if (!match) throw badCursor()
  return { accountId: match[1]!, kind: match[2]!, subject: match[3]! }
}
