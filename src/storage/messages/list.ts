import type { Message, Service, Status } from '../../core/messages/message.js'
import type { Param, Reads } from '../engine/db.js'
import { piecesOf, type SizedRow } from '../engine/pieces.js'
import { listValues } from '../engine/query.js'
import { type CountFilter, DAY_MS, type DateField, HOUR_MS, sumAll, sumBuckets } from './counts.js'
import { toMessage } from './rows.js'

/** A conjunction of conditions. A query by number may have two branches: as contact, and as line. */
export interface Branch {
  /** null: all accounts (admin). */
  accountId: string | null
  lineId?: string
  /** Excludes messages from or to these lines. */
  notLineNumbers?: readonly string[]
  isOutbound?: boolean
  contact?: string
  groupId?: string
  /** Messages to groups with all of these members. */
  members?: readonly string[]
  status?: Status
  service?: Service
  /** True: messages in groups; false: messages between two. */
  inGroup?: boolean
  dates: Partial<Record<DateField, Range>>
}

/** Inclusive bounds in epoch milliseconds. */
interface Range {
  from?: number
  to?: number
}

export interface Page {
  order: DateField
  descending: boolean
  limit: number
  offset: number
}

/**
 * The ids of a page of messages, in pieces to read at once, and the exact number of matches. The branches must not
 * overlap.
 */
export async function listMessageIds(
  sql: Reads,
  branches: readonly Branch[],
  page: Page,
): Promise<{ pieces: number[][]; total: number }> {
  const totals = await Promise.all(branches.map((branch) => countBranch(sql, branch)))
  const total = totals.reduce((sum, n) => sum + n, 0)
  if (total <= page.offset) return { pieces: [], total }

  const params: Param[] = []
  const parts: string[] = []
  const depth = page.offset + page.limit
  for (const [index, branch] of branches.entries()) {
    if (totals[index] === 0) continue
    parts.push(`select * from (${await pick(sql, branch, page, depth, totals[index]!, params)}) b${index}`)
  }
  const direction = page.descending ? 'desc' : 'asc'
  params.push(page.limit, page.offset)
  const ids = await listValues<number>(
    sql,
    `select id from (${parts.join(' union all ')}) u order by at ${direction}, id ${direction}
     limit $${params.length - 1} offset $${params.length}`,
    params,
  )
  if (ids.length === 0) return { pieces: [], total }
  const list = sql.inIds(1, ids)
  const sized = await sql.all<SizedRow<number>>(
    `select id, octet_length(content) + coalesce(octet_length(extra), 0) as bytes
     from messages where id ${list.sql}`,
    [list.param],
  )
  const bytes = new Map(sized.map((row) => [row.id, row.bytes]))
  return { pieces: piecesOf(ids.map((id) => ({ id, bytes: bytes.get(id) ?? 0 }))), total }
}

/** These messages in this order, without those that were removed since their ids were read. */
export async function readMessages(sql: Reads, ids: readonly number[]): Promise<Message[]> {
  const list = sql.inIds(1, ids)
  const rows = await sql.all(`select * from messages where id ${list.sql}`, [list.param])
  const byId = new Map(rows.map((row) => [row.id as number, toMessage(row)]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** A way to reach a branch's rows: the columns an index fixes, and the date that orders its entries. */
interface Path {
  equal: readonly ('lineId' | 'isOutbound' | 'contact' | 'groupId' | 'members' | 'status')[]
  /** Null if the entries come from several ranges of the index. */
  order: DateField | null
}

const PATHS: readonly Path[] = [
  { equal: [], order: 'created' },
  { equal: [], order: 'updated' },
  { equal: [], order: 'sent' },
  { equal: ['lineId', 'isOutbound'], order: 'created' },
  { equal: ['status'], order: 'created' },
]

/** A contact or a group has few rows, so such a branch has one path, for its rows and their number. */
function directPath({ contact, groupId, members }: Branch): Path | undefined {
  if (contact !== undefined) return { equal: ['contact'], order: 'created' }
  if (groupId !== undefined) return { equal: ['groupId'], order: 'created' }
  if (members !== undefined) return { equal: ['members'], order: null }
  return undefined
}

/**
 * The statement for one branch. The totals tell how many index entries each path would walk to find the page. The
 * cheapest path is chosen here and hidden from the planner's other choices, because neither engine knows how rare a
 * status is, and both prefer walking a million rows in order to sorting a hundred.
 */
async function pick(
  sql: Reads,
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

/** Whether every entry of the path matches the branch. */
function covers(path: Path, branch: Branch): boolean {
  const names = ['lineId', 'isOutbound', 'status', 'service', 'inGroup'] as const
  return (
    names.every((name) => branch[name] === undefined || (path.equal as readonly string[]).includes(name)) &&
    Object.keys(branch.dates).every((field) => field === path.order)
  )
}

/** Number of index entries of a path that belong to the branch. */
async function countPath(sql: Reads, branch: Branch, path: Path): Promise<number> {
  const equal: Branch = { accountId: branch.accountId, dates: {} }
  for (const name of path.equal) Object.assign(equal, { [name]: branch[name] })
  const range = path.order && branch.dates[path.order]
  if (range) equal.dates = { [path.order!]: range }
  return countBranch(sql, equal)
}

/** Exact number of matches, from the counters where possible. */
async function countBranch(sql: Reads, branch: Branch): Promise<number> {
  const fields = Object.keys(branch.dates) as DateField[]
  const direct = directPath(branch)
  if (direct || fields.length > 1) return countRows(sql, branch, direct)
  const filter: CountFilter = branch
  const field = fields[0]
  if (!field) return sumAll(sql, filter)

  const { from = 0, to = Number.MAX_SAFE_INTEGER } = branch.dates[field]!
  const end = to + 1
  const firstHour = Math.ceil(from / HOUR_MS) * HOUR_MS
  const lastHour = Math.floor(end / HOUR_MS) * HOUR_MS
  if (firstHour >= lastHour) return countRows(sql, branch)
  const firstDay = Math.min(Math.ceil(firstHour / DAY_MS) * DAY_MS, lastHour)
  const lastDay = Math.max(Math.floor(lastHour / DAY_MS) * DAY_MS, firstDay)
  const edge = (low: number, high: number) =>
    low < high ? countRows(sql, { ...branch, dates: { [field]: { from: low, to: high - 1 } } }) : 0
  const parts = await Promise.all([
    edge(from, firstHour),
    sumBuckets(sql, filter, field, HOUR_MS, firstHour, firstDay),
    sumBuckets(sql, filter, field, DAY_MS, firstDay, lastDay),
    sumBuckets(sql, filter, field, HOUR_MS, lastDay, lastHour),
    edge(lastHour, end),
  ])
  return parts.reduce((sum, n) => sum + n, 0)
}

async function countRows(sql: Reads, branch: Branch, path?: Path): Promise<number> {
  const params: Param[] = []
  const row = await sql.one<{ n: number }>(
    `select count(*) as n from messages where ${conditions(branch, params, path)}`,
    params,
  )
  return row!.n
}

/** The conditions of a branch. With a path, other conditions are wrapped so that no index fits them. */
function conditions(branch: Branch, params: Param[], path?: Path): string {
  const where: string[] = []
  const add = (column: string, operator: string, value: Param | undefined, own: boolean, number = false) => {
    if (value === undefined || value === null) return
    params.push(value)
    const left = own ? column : number ? `${column} + 0` : `${column} || ''`
    where.push(`${left} ${operator} $${params.length}`)
  }
  const owns = (name: Path['equal'][number]) => !path || path.equal.includes(name)
  // Indexes used only by lists contain no deleted messages.
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
    // The partial index contains only group messages, and SQLite uses it only with this condition.
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
