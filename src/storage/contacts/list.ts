import type { Contact, ContactOrder } from '../../core/contacts/contact.js'
import type { Param, Reads } from '../engine/db.js'
import { piecesOf, type SizedRow } from '../engine/pieces.js'
import { listValues } from '../engine/query.js'
import { type ContactScope, findContacts } from './contacts.js'

interface ContactFilter extends ContactScope {
  id?: string
  phone?: string
  /** Created at or after this time; ids since then are not smaller than `firstId`. */
  created?: { from: number; firstId: string }
}

export interface ContactPage {
  order: ContactOrder
  descending: boolean
  limit: number
  offset: number
}

/** Sorted by this column, then by id. Ids sort by time, so the creation time needs no column. */
const ORDER_COLUMN: Record<ContactOrder, string> = {
  created: 'id',
  firstName: 'first_name',
  lastName: 'last_name',
  phone: 'phone',
}

/** The ids of a page of contacts, in pieces to read at once. Earlier entries are skipped in index order. */
export async function listContactIds(
  sql: Reads,
  filter: ContactFilter,
  page: ContactPage,
): Promise<string[][]> {
  const column = ORDER_COLUMN[page.order]
  const direction = page.descending ? 'desc' : 'asc'
  const order =
    page.order === 'phone' || page.order === 'created'
      ? `${column} ${direction}`
      : `${column} ${direction}, id ${direction}`
  const params: Param[] = [filter.accountId]
  const where = conditions(filter, params).join(' and ')
  const select = `select id, ${column} as sorted from contacts where ${where}`
  const bounds = (limit: number, offset: number) => {
    params.push(limit, offset)
    return `limit $${params.length - 1} offset $${params.length}`
  }
  let text: string
  if (!filter.lineNumbers) text = `${select} order by ${order} ${bounds(page.limit, page.offset)}`
  else {
    // One ordered index walk for each line, as deep as the page may reach, then a merge.
    const walks = filter.lineNumbers.map((number, i) => {
      params.push(number)
      const line = `line_number = $${params.length} and line_number <> ''`
      return `select * from (${select} and ${line} order by ${order} ${bounds(page.offset + page.limit, 0)}) w${i}`
    })
    if (walks.length === 0) return []
    const merged = `select id, sorted from (${walks.join(' union all ')}) u`
    text = `${merged} order by sorted ${direction}, id ${direction} ${bounds(page.limit, page.offset)}`
  }
  const ids = await listValues<string>(sql, text, params)
  if (ids.length < 2) return ids.map((id) => [id])
  const list = sql.listTable(2, ids)
  const sized = await sql.all<SizedRow<string>>(
    `select c.id, octet_length(c.variables) + octet_length(c.tags) as bytes
     from ${list.sql} cross join contacts c where c.account_id = $1 and c.id = j.value`,
    [filter.accountId, list.param],
  )
  const bytes = new Map(sized.map((row) => [row.id, row.bytes]))
  return piecesOf(ids.map((id) => ({ id, bytes: bytes.get(id) ?? 0 })))
}

/** These contacts in this order, without those that were removed since their ids were read. */
export async function readContacts(
  sql: Reads,
  accountId: string,
  ids: readonly string[],
): Promise<Contact[]> {
  const contacts = await findContacts(sql, accountId, 'id', ids)
  return ids.flatMap((id) => contacts.get(id) ?? [])
}

function conditions(filter: ContactFilter, params: Param[]): string[] {
  const where = ['account_id = $1']
  const add = (condition: string, value: Param | undefined) => {
    if (value === undefined) return
    params.push(value)
    where.push(`${condition} $${params.length}`)
  }
  add('id =', filter.id)
  add('phone =', filter.phone)
  // The id gives the start in the index; it may be some milliseconds ahead of the contact's time.
  add('id >=', filter.created?.firstId)
  add('created_at >=', filter.created?.from)
  return where
}
