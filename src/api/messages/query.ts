import { type Static, Type } from 'typebox'
import { type Account, networkOf } from '../../core/accounts/account.js'
import { AppError } from '../../core/errors.js'
import { SERVICES, type Service, STATUSES, type Status } from '../../core/messages/message.js'
import type { Ctx } from '../../services/ctx.js'
import { findAccountByEmail } from '../../storage/accounts/accounts.js'
import { listLineIds } from '../../storage/lines/lines.js'
import type { DateField } from '../../storage/messages/counts.js'
import type { Branch, Page } from '../../storage/messages/list.js'
import type { Principal } from '../http/auth.js'
import { requirePhone, requireTime } from '../http/fields.js'
import { boolean, integer, oneOf, optional, string } from '../http/schemas.js'

const phone = (description: string) => optional(string(`${description}, E.164`))
const date = (description: string) => optional(string(`${description}, ISO 8601; UTC unless it names a zone`))

/** By spelling: clients name the order like the filters, like the fields of a record, or in camelCase. */
const ORDERS: Readonly<Record<string, DateField>> = Object.fromEntries(
  (['created', 'updated', 'sent'] as const).flatMap((order) =>
    [`${order}At`, `${order}_at`, `date_${order}`, `date${order[0]!.toUpperCase()}${order.slice(1)}`].map(
      (spelling) => [spelling, order],
    ),
  ),
)

export const ListQuery = Type.Object({
  account_email: optional(string('Account identifier')),
  created_at_gte: date('Accepted or stored at or after'),
  created_at_lte: date('Accepted or stored at or before'),
  sent_at_gte: date('Sent at or after'),
  sent_at_lte: date('Sent at or before'),
  updated_at_gte: date('Changed at or after'),
  updated_at_lte: date('Changed at or before'),
  from_number: phone('Sender'),
  to_number: phone('Recipient'),
  number: phone('Sender or recipient'),
  sendblue_number: phone('Line'),
  group_id: optional(string('Group')),
  is_outbound: optional(boolean('Direction')),
  message_type: optional(
    string('message: between two people, whatever its kind; group: in a group. Other values are ignored'),
  ),
  service: optional(oneOf(SERVICES, 'Service')),
  status: optional(oneOf(STATUSES, 'Status')),
  worker_id: optional(string('Line id; admin keys only')),
  limit: optional(integer('Rows to return; at most 1000', { minimum: 1, default: 100 })),
  offset: optional(integer('Rows to skip', { minimum: 0, default: 0 })),
  order_by: optional(oneOf(Object.keys(ORDERS), 'Order; default createdAt')),
  order_direction: optional(oneOf(['asc', 'desc'], 'Direction of the order; default desc')),
})
export type ListQuery = Static<typeof ListQuery>

const MAX_LIMIT = 1000
const MAX_OFFSET = 2 ** 31

export function pageOf(query: ListQuery): Page {
  return {
    order: ORDERS[query.order_by ?? 'createdAt']!,
    descending: query.order_direction !== 'asc',
    limit: Math.min(query.limit ?? 100, MAX_LIMIT),
    offset: Math.min(query.offset ?? 0, MAX_OFFSET),
  }
}

/** The conditions of a list as branches that do not overlap; empty when nothing can match. */
export async function branchesOf(ctx: Ctx, principal: Principal, query: ListQuery): Promise<Branch[]> {
  if (query.worker_id !== undefined && principal.kind !== 'admin') {
    throw new AppError('forbidden', 'worker_id: only admin keys may filter by it')
  }
  const branches: Branch[] = []
  for (const { accountId, network } of await scopeOf(ctx, principal, query.account_email)) {
    let found = await withinLines(ctx, principal, network, { accountId, dates: datesOf(query) })
    const restrict = (change: (branch: Branch) => (Branch | undefined)[]) => {
      found = found.flatMap(change).filter((branch) => branch !== undefined)
    }
    const status = query.status as Status | undefined
    if (status) restrict((branch) => [merge(branch, { status })])
    if (query.service) restrict((branch) => [merge(branch, { service: query.service as Service })])
    // The filter separates groups from other conversations: carousels and locations are in either.
    if (query.message_type === 'message' || query.message_type === 'group')
      restrict((branch) => [merge(branch, { inGroup: query.message_type === 'group' })])
    if (query.group_id) restrict((branch) => [merge(branch, { groupId: query.group_id! })])
    if (query.is_outbound !== undefined)
      restrict((branch) => [merge(branch, { isOutbound: query.is_outbound! })])
    if (query.worker_id) restrict((branch) => [merge(branch, { lineId: query.worker_id! })])

    const lineIds = (number: string) => listLineIds(ctx.db, network, number)
    if (query.sendblue_number) {
      const ids = await lineIds(requirePhone('sendblue_number', query.sendblue_number))
      restrict((branch) => ids.map((lineId) => merge(branch, { lineId })))
    }
    for (const [field, outbound] of [
      ['from_number', true],
      ['to_number', false],
      ['number', undefined],
    ] as const) {
      const given = query[field]
      if (given === undefined) continue
      const contact = requirePhone(field, given)
      const ids = await lineIds(contact)
      // A number is the line of some messages, the contact of others, and both in a note to self.
      // A message to a group goes to all its members.
      const inGroup =
        outbound === true ? [] : [{ members: [contact], notLineNumbers: [contact], isOutbound: true }]
      restrict((branch) => [
        ...(outbound === undefined
          ? [
              merge(branch, { contact, notLineNumbers: [contact] }),
              ...ids.map((lineId) => merge(branch, { lineId })),
            ]
          : [
              merge(branch, { contact, isOutbound: !outbound }),
              ...ids.map((lineId) => merge(branch, { lineId, isOutbound: outbound })),
            ]),
        ...inGroup.map((more) => merge(branch, more)),
      ])
    }
    branches.push(...found)
  }
  return branches
}

/** One branch for each line of a confined token and each direction, because of the index. */
async function withinLines(ctx: Ctx, principal: Principal, network: string, all: Branch): Promise<Branch[]> {
  if (principal.kind !== 'account' || !principal.numbers) return [all]
  const ids = await Promise.all([...principal.numbers].map((number) => listLineIds(ctx.db, network, number)))
  return ids.flat().flatMap((lineId) => [
    { ...all, lineId, isOutbound: true },
    { ...all, lineId, isOutbound: false },
  ])
}

/** Both conditions, or undefined when they exclude each other. */
export function merge(branch: Branch, more: Partial<Branch>): Branch | undefined {
  const merged: Record<string, unknown> = { ...branch }
  for (const [name, value] of Object.entries(more)) {
    const held = merged[name]
    // Lists are combined: a group has several members, and a message can exclude several lines.
    if (Array.isArray(held)) merged[name] = [...new Set([...held, ...(value as readonly string[])])]
    else if (held !== undefined && held !== value) return undefined
    else merged[name] = value
  }
  return merged as unknown as Branch
}

interface Scope {
  /** null: all accounts. */
  accountId: string | null
  /** The telephone network in which numbers are looked up. */
  network: string
}

async function scopeOf(ctx: Ctx, principal: Principal, email: string | undefined): Promise<Scope[]> {
  const scope = (account: Account): Scope => ({ accountId: account.id, network: networkOf(account) })
  if (principal.kind === 'account') {
    return email === undefined || email === principal.account.email ? [scope(principal.account)] : []
  }
  if (email === undefined) return [{ accountId: null, network: 'live' }]
  const accounts = await Promise.all([
    findAccountByEmail(ctx.db, email, 'live'),
    findAccountByEmail(ctx.db, email, 'test'),
  ])
  return accounts.flatMap((account) => (account ? scope(account) : []))
}

function datesOf(query: ListQuery): Branch['dates'] {
  const dates: Branch['dates'] = {}
  for (const field of ['created', 'updated', 'sent'] as const) {
    const from = timeOf(query, `${field}_at_gte`)
    const to = timeOf(query, `${field}_at_lte`)
    if (from !== undefined || to !== undefined) {
      dates[field] = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
    }
  }
  return dates
}

function timeOf(query: ListQuery, name: keyof ListQuery): number | undefined {
  const text = query[name]
  if (text === undefined) return undefined
  return requireTime(name, String(text))
}
