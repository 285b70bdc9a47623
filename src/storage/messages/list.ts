import type { Message, Service, Status } from '../../core/messages/message.js'
import type { Param, Sql } from '../engine/db.js'
import { type CountFilter, DAY, type DateField, HOUR, sumAll, sumBuckets } from './counts.js'
import { toMessage } from './rows.js'

/** One conjunction of conditions. A query by number may mean two of them: as contact, and as line. */
export interface Branch {
  /** null: all accounts (admin). */
  accountId: string | null
  lineId?: string
  /** Not from or to these lines. */
  notLineNumbers?: readonly string[]
  isOutbound?: boolean
  contact?: string
  groupId?: string
  /** All of them in the group it is to. */
  members?: readonly string[]
  status?: Status
  service?: Service
  /** Said in a group, or between two. */
  inGroup?: boolean
  dates: Partial<Record<DateField, Range>>
}

/** Inclusive bounds in epoch milliseconds. */
export interface Range {
  from?: number
  to?: number
}

export interface Page {
  order: DateField
  descending: boolean
  limit: number
  offset: number
}

/** A page of messages and the exact number of all matches. The branches must not overlap. */
export async function listMessages(
  sql: Sql,
  branches: readonly Branch[],
  page: Page,
): Promise<{ messages: Message[]; total: number }> {
  const totals = await Promise.all(branches.map((branch) => countBranch(sql, branch)))
  const total = totals.reduce((sum, n) => sum + n, 0)
  if (total <= page.offset) return { messages: [], total }

  const params: Param[] = []
  const parts: string[] = []
  const depth = page.offset + page.limit
  for (const [index, branch] of branches.entries()) {
    if (totals[index] === 0) continue
    parts.push(`select * from (${await pick(sql, branch, page, depth, totals[index]!, params)}) b${index}`)
  }
  const direction = page.descending ? 'desc' : 'asc'
  params.push(page.limit, page.offset)
  const ids = await sql.all<{ id: number }>(
    `select id from (${parts.join(' union all ')}) u order by at ${direction}, id ${direction}
     limit $${params.length - 1} offset $${params.length}`,
    params,
  )
  if (ids.length === 0) return { messages: [], total }
  const list = sql.inIds(
    1,
    ids.map((row) => row.id),
  )
  const rows = await sql.all(`select * from messages where id in ${list.sql}`, [list.param])
  const byId = new Map(rows.map((row) => [row.id, row]))
  return { messages: ids.map(({ id }) => toMessage(byId.get(id)!)), total }
}

/** The ways to reach a branch's rows: what an index holds equal, and the date its entries are ordered by. */
interface Path {
  equal: readonly ('lineId' | 'isOutbound' | 'contact' | 'groupId' | 'members' | 'status')[]
  /** Null when the entries come from several places of the index. */
  order: DateField | null
}

const PATHS: readonly Path[] = [
  { equal: [], order: 'created' },
  { equal: [], order: 'updated' },
  { equal: [], order: 'sent' },
  { equal: ['lineId', 'isOutbound'], order: 'created' },
  { equal: ['status'], order: 'created' },
]

/** A person or a group leads to few rows: such a branch has one path, for its rows and for their number. */
function directPath({ contact, groupId, members }: Branch): Path | undefined {
  if (contact !== undefined) return { equal: ['contact'], order: 'created' }
  if (groupId !== undefined) return { equal: ['groupId'], order: 'created' }
  if (members !== undefined) return { equal: ['members'], order: null }
  return undefined
}

/**
 * The statement for one branch. The totals tell how many entries each index would have to walk to find the
 * page; the cheapest is chosen here and the others are put out of the planner's reach, because neither engine
 * knows how rare a status is and both would rather walk a million rows in order than sort a hundred.
 */
async function pick(
  sql: Sql,
  branch: Branch,
  page: Page,
  depth: number,
  total: number,
  params: Param[],
): Promise<string> {
  const direction = page.descending ? 'desc' : 'asc'
  const direct = directPath(branch)
  let best: { path: Path; walked: number } | undefined = direct && { path: direct, walked: 0 }
  if (!best) {
    const open = PATHS.filter((path) => path.equal.every((name) => branch[name] !== undefined))
    const exact = open.find((path) => path.order === page.order && covers(path, branch))
    if (exact) best = { path: exact, walked: depth }
    else
      for (const path of open) {
        const reach = await countPath(sql, branch, path)
        const walked = path.order === page.order ? Math.min(reach, (depth * reach) / total) : reach
        if (!best || walked < best.walked) best = { path, walked }
      }
  }
  const { path } = best!
  const where = conditions(branch, params, path)
  const rows = `select id, ${page.order}_at as at from messages where ${where}`
  params.push(depth)
  const first = `order by ${page.order === path.order ? `${page.order}_at` : 'at'} ${direction}, id ${direction} limit $${params.length}`
  return path.order === page.order
    ? `${rows} ${first}`
    : `with r as materialized (${rows}) select * from r ${first}`
}

/** Whether every entry the path walks is a match. */
function covers(path: Path, branch: Branch): boolean {
  const names = ['lineId', 'isOutbound', 'status', 'service', 'inGroup'] as const
  return (
    names.every((name) => branch[name] === undefined || (path.equal as readonly string[]).includes(name)) &&
    Object.keys(branch.dates).every((field) => field === path.order)
  )
}

/** How many entries of a path's index belong to the branch. */
async function countPath(sql: Sql, branch: Branch, path: Path): Promise<number> {
  const equal: Branch = { accountId: branch.accountId, dates: {} }
  for (const name of path.equal) Object.assign(equal, { [name]: branch[name] })
  const range = path.order && branch.dates[path.order]
  if (range) equal.dates = { [path.order!]: range }
  return countBranch(sql, equal)
}

/** Exact number of matches: from the counters, and by counting only where they cannot tell. */
async function countBranch(sql: Sql, branch: Branch): Promise<number> {
  const fields = Object.keys(branch.dates) as DateField[]
  const direct = directPath(branch)
  if (direct || fields.length > 1) return countRows(sql, branch, direct)
  const filter: CountFilter = branch
  const field = fields[0]
  if (!field) return sumAll(sql, filter)

  const { from = 0, to = Number.MAX_SAFE_INTEGER } = branch.dates[field]!
  const end = to + 1
  const firstHour = Math.ceil(from / HOUR) * HOUR
  const lastHour = Math.floor(end / HOUR) * HOUR
  if (firstHour >= lastHour) return countRows(sql, branch)
  const firstDay = Math.min(Math.ceil(firstHour / DAY) * DAY, lastHour)
  const lastDay = Math.max(Math.floor(lastHour / DAY) * DAY, firstDay)
  const edge = (low: number, high: number) =>
    low < high ? countRows(sql, { ...branch, dates: { [field]: { from: low, to: high - 1 } } }) : 0
  const parts = await Promise.all([
    edge(from, firstHour),
    sumBuckets(sql, filter, field, HOUR, firstHour, firstDay),
    sumBuckets(sql, filter, field, DAY, firstDay, lastDay),
    sumBuckets(sql, filter, field, HOUR, lastDay, lastHour),
    edge(lastHour, end),
  ])
  return parts.reduce((sum, n) => sum + n, 0)
}

async function countRows(sql: Sql, branch: Branch, path?: Path): Promise<number> {
  const params: Param[] = []
  const row = await sql.one<{ n: number }>(
    `select count(*) as n from messages where ${conditions(branch, params, path)}`,
    params,
  )
  return row!.n
}

/** Conditions of a branch; with a path, those that are not its own are wrapped so that no index fits them. */
function conditions(branch: Branch, params: Param[], path?: Path): string {
  const where: string[] = []
  const add = (column: string, operator: string, value: Param | undefined, own: boolean, number = false) => {
    if (value === undefined || value === null) return
    params.push(value)
    const left = own ? column : number ? `${column} + 0` : `${column} || ''`
    where.push(`${left} ${operator} $${params.length}`)
  }
  const owns = (name: Path['equal'][number]) => !path || path.equal.includes(name)
  // Those indexes that only lists use do not hold deleted messages.
  where.push('deleted_at is null')
  add('account_id', '=', branch.accountId, true)
  add('contact', '=', branch.contact, owns('contact'))
  add('group_id', '=', branch.groupId, owns('groupId'))
  if (branch.members !== undefined) {
    const [first, ...others] = branch.members.map((handle) => `$${params.push(handle)}`)
    const also = others.map(
      (other) =>
        ` and exists (select 1 from group_members y where y.group_id = x.group_id and y.handle = ${other})`,
    )
    // The index has only what is in a group, and SQLite uses it only where that is said.
    where.push(
      `group_id is not null and (account_id, group_id) in (select x.account_id, x.group_id from group_members x where x.handle = ${first}${also.join('')})`,
    )
  }
  add('line_id', '=', branch.lineId, owns('lineId'))
  for (const number of branch.notLineNumbers ?? []) add('line_number', '<>', number, true)
  add(
    'is_outbound',
    '=',
    branch.isOutbound === undefined ? undefined : branch.isOutbound ? 1 : 0,
    owns('isOutbound'),
    true,
  )
  add('status', '=', branch.status, owns('status'))
  add('service', '=', branch.service, true)
  if (branch.inGroup !== undefined) where.push(`type ${branch.inGroup ? '=' : '<>'} 'group'`)
  for (const field of ['created', 'updated', 'sent'] as const) {
    const own = !path || path.order === field
    add(`${field}_at`, '>=', branch.dates[field]?.from, own, true)
    add(`${field}_at`, '<=', branch.dates[field]?.to, own, true)
  }
  return where.join(' and ')
}
