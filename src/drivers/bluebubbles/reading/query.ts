import type { Service } from '../../../core/messages/message.js'
import { listOf, wholeOf } from '../json.js'
import { dataOf, inPath, type Mac, MacFault } from '../mac.js'
import { type Row, readRow } from './rows.js'

/** One condition on the Mac's database, in its own words. The arguments must be there even when there are none. */
export interface Where {
  statement: string
  args: Record<string, string | number | readonly string[]>
}

export interface Page {
  rows: Row[]
  /** How many things the page had, also those that are no messages. */
  size: number
  /** How many there are in all, when the server says. */
  total: number | undefined
}

const QUERY_MS = 60_000
/** Texts can be long, and a page has hundreds. */
const QUERY_BYTES = 64_000_000

/** The order is always by time of sending, never by row. */
export async function queryPage(
  mac: Mac,
  ask: {
    where?: Where[]
    after?: number
    with?: string[]
    sort?: 'ASC' | 'DESC'
    limit: number
    offset?: number
  },
): Promise<Page> {
  const said = await mac.call({
    method: 'POST',
    path: '/message/query',
    json: { with: [], where: [], sort: 'ASC', offset: 0, ...ask },
    timeoutMs: QUERY_MS,
    maxBytes: QUERY_BYTES,
  })
  if (said.status !== 200 || !Array.isArray(said.data))
    throw new MacFault(said, 'The messages could not be read')
  return {
    rows: said.data.flatMap((one) => readRow(one) ?? []),
    size: said.data.length,
    total: wholeOf(said.metadata.total),
  }
}

const AT_ONCE = 100

/** Messages by their ids, without their chats: those are not linked from the start. */
export async function rowsOf(mac: Mac, guids: readonly string[], also: Where[] = []): Promise<Row[]> {
  const found: Row[] = []
  for (let from = 0; from < guids.length; from += AT_ONCE) {
    const some = guids.slice(from, from + AT_ONCE)
    const wanted = new Set(some)
    const where = [{ statement: 'message.guid IN (:...guids)', args: { guids: some } }, ...also]
    const { rows } = await queryPage(mac, { where, limit: AT_ONCE })
    found.push(...rows.filter((row) => wanted.has(row.guid)))
  }
  return found
}

/** No answer of the server says whether Apple took a message. Its database can be asked. */
export async function sentOf(mac: Mac, guids: readonly string[]): Promise<Set<string>> {
  const rows = await rowsOf(mac, guids, [{ statement: 'message.is_sent = :sent', args: { sent: 1 } }])
  return new Set(rows.map((row) => row.guid))
}

/** The services that messages really went by, which no answer says either. What is not found went by iMessage. */
export async function servicesOf(mac: Mac, guids: readonly string[]): Promise<Map<string, Service>> {
  const services = new Map<string, Service>()
  const note = (rows: Row[], service: Service) => {
    for (const { guid } of rows) services.set(guid, service)
  }
  const downgraded = [{ statement: 'message.was_downgraded = :down', args: { down: 1 } }]
  note(await rowsOf(mac, guids, downgraded), 'SMS')
  for (const service of ['SMS', 'RCS'] as const)
    note(await rowsOf(mac, guids, [{ statement: 'message.service = :service', args: { service } }]), service)
  return services
}

/** A place in the Mac's database. With the id of the message in it, which is another one in another database. */
export interface Place {
  row: number
  guid: string
}

/** The id of the message in a row; undefined when there is none. */
export async function guidAt(mac: Mac, row: number): Promise<string | undefined> {
  const where = [{ statement: 'message.ROWID = :r', args: { r: row } }]
  const { rows } = await queryPage(mac, { where, limit: 1 })
  return rows.find((one) => one.rowId === row)?.guid
}

/** One message with everything about it; undefined when the Mac has none by that id. */
export async function rowOf(mac: Mac, guid: string): Promise<Row | undefined> {
  const said = await mac.call({
    path: `/message/${inPath(guid)}`,
    query: { with: 'chats,attachments,message.attributed-body' },
  })
  if (said.status === 404 && said.isEnvelope) return undefined
  const row = said.status === 200 ? readRow(said.data) : undefined
  if (row?.guid !== guid) throw new MacFault(said, 'The message could not be read')
  return row
}

const CHAT_PAGE = 500
const MAX_CHAT_PAGES = 10

/** What was said in a chat since then. */
export async function rowsInChat(mac: Mac, chatGuid: string, after: number): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = 0; page < MAX_CHAT_PAGES; page++) {
    const data = listOf(
      await dataOf(mac, 'The chat could not be read', {
        path: `/chat/${inPath(chatGuid)}/message`,
        query: {
          with: 'attachment,message.attributed-body',
          after,
          sort: 'ASC',
          limit: CHAT_PAGE,
          offset: page * CHAT_PAGE,
        },
        timeoutMs: QUERY_MS,
        maxBytes: QUERY_BYTES,
      }),
    )
    rows.push(...data.flatMap((one) => readRow(one) ?? []))
    if (data.length < CHAT_PAGE) break
  }
  return rows
}
