import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import {
  MAX_USAGE_DAYS,
  readAllUsage,
  readUsage,
  readUsageOf,
  USUAL_USAGE_DAYS,
  type UsagePage,
  type UsagePlace,
  type UsageQuery,
  type UsageRow,
} from '../../services/accounts/usage.js'
import type { Ctx } from '../../services/ctx.js'
import { admin } from '../admin/shared.js'
import { accountOf } from '../http/auth.js'
import { badCursor, NextCursor, pageQuery } from '../http/cursor.js'
import { requirePhone, requireTime } from '../http/fields.js'
import { renderer } from '../http/render.js'
import { type Routes, routesOf } from '../http/routes.js'
import { integer, nullable, optional, string } from '../http/schemas.js'

const route = routesOf('Account', { access: 'account' })

const MAX = 1000
const USUAL = 500

const NUMBERS = {
  accepted: integer('Messages accepted for sending, whatever became of them'),
  delivered: integer('Of the accepted messages: delivered'),
  failed: integer('Of the accepted messages: failed'),
  received: integer('Messages received'),
}
const Totals = Type.Object(NUMBERS, { title: 'UsageTotals' })

const DayWire = Type.Object(
  {
    account_id: string('Id of the account'),
    day: string('The day, from midnight UTC to midnight UTC, like 2026-01-31'),
    line_id: string('Id of the line'),
    line: nullable('string', 'The line, E.164; null if it is not known any more'),
    ...NUMBERS,
  },
  { title: 'UsageDay' },
)
const dayWire = renderer<UsageRow>()(DayWire, { day: ({ day }) => formatTime(day).slice(0, 10) })

const RangeQuery = Type.Object({
  from: optional(
    string(`First day, ISO 8601; default: ${USUAL_USAGE_DAYS} days up to the last day`, { maxLength: 40 }),
  ),
  to: optional(string('Last day, ISO 8601; default today', { maxLength: 40 })),
  ...pageQuery(MAX, USUAL),
})
const OwnQuery = Type.Object({
  line: optional(string('Only the line with this number', { maxLength: 64 })),
  line_id: optional(string('Only the line with this id, also a removed line', { maxLength: 64 })),
  ...RangeQuery.properties,
})
const AdminQuery = Type.Object({
  account_id: optional(string('Only this account, test account or world', { maxLength: 64 })),
  ...RangeQuery.properties,
})
const List = (totals: string) =>
  Type.Object({
    data: Type.Array(DayWire),
    totals: Type.Union([Totals, Type.Null()], { description: totals }),
    next_cursor: NextCursor,
  })

const COUNTED = `A message counts in the day in which Trunkline accepted or received it, under its present status. It still counts after it was deleted, erased or removed by retention. Days without messages have no row. At most ${MAX_USAGE_DAYS} days in one request.`

/** Usage of accounts by day and line. */
export function registerUsageDays(app: Routes, ctx: Ctx): void {
  app.get(
    '/v3/usage/days',
    route({
      operationId: 'listUsageDays',
      summary: 'List what the account sent and received, by day and line',
      description: `Oldest day first. ${COUNTED}`,
      querystring: OwnQuery,
      response: { 200: List('Of all days and lines of the request, on the first page; otherwise null') },
    }),
    async (request) => {
      const { id } = accountOf(request)
      const { line, line_id, ...query } = request.query
      const lineId = line === undefined ? line_id : await lineIdOf(ctx, id, line)
      return pageWire(await readUsage(ctx, id, { ...queryOf(query), lineId }))
    },
  )
  app.get(
    '/admin/usage/days',
    admin({
      operationId: 'listUsageDaysOfAccounts',
      errors: { 404: 'There is no such account.' },
      summary: 'List what accounts sent and received, by day and line',
      description: `By account, oldest day first. A page may have fewer rows than requested, or none; there are more while next_cursor is not null. ${COUNTED}`,
      querystring: AdminQuery,
      response: {
        200: List('With account_id: of all days and lines of the request, on the first page. Otherwise null'),
      },
    }),
    async ({ query }) => {
      const { account_id: id, ...range } = query
      return pageWire(
        id === undefined
          ? await readAllUsage(ctx, queryOf(range))
          : await readUsageOf(ctx, id, queryOf(range)),
      )
    },
  )
}

function queryOf({ from, to, cursor, limit }: Static<typeof RangeQuery>): UsageQuery {
  return {
    from: from === undefined ? undefined : requireTime('from', from),
    to: to === undefined ? undefined : requireTime('to', to),
    after: cursor === undefined ? undefined : placeIn(cursor),
    limit: Math.min(limit ?? USUAL, MAX),
  }
}

/** Lines of other accounts look like lines that do not exist: the account has no usage on either. */
async function lineIdOf(ctx: Ctx, accountId: string, line: string): Promise<string> {
  return (await ctx.directory.lineOf(accountId, requirePhone('line', line)))?.line.id ?? ''
}

function pageWire({ rows, totals, next }: UsagePage) {
  return { data: rows.map(dayWire), totals, next_cursor: next && placeText(next) }
}

const placeText = ({ accountId, day, lineId }: UsagePlace) => `${day}.${accountId}.${lineId}`

function placeIn(cursor: string): UsagePlace {
  const match = /^(\d{1,15})\.([\w-]{1,64})\.([\w-]{0,64})$/.exec(cursor)
  if (!match) throw badCursor()
  return { day: Number(match[1]), accountId: match[2]!, lineId: match[3]! }
}
