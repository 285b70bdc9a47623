import { listOf, wholeOf } from '../../../core/fields.js'
import type { Service } from '../../../core/messages/message.js'
import { dataOf, inPath, type Mac, MacFault } from '../mac.js'
import { type Row, readRow } from './rows.js'

/** A condition in the SQL of the Mac's database. The server requires `args` even if empty. */
export interface Condition {
  statement: string
  args: Record<string, string | number | readonly string[]>
}

export interface Page {
  rows: Row[]
  /** Number of entries on the page, including those that are not messages. */
  size: number
  /** Number of entries in all; undefined if the server does not say. */
  total: number | undefined
}

const QUERY_TIMEOUT_MS = 60_000
/** A page holds hundreds of messages, each with a text of any length. */
const QUERY_BYTES = 64_000_000

/** The server always sorts by send time, never by row id. */
export async function queryPage(
  mac: Mac,
  ask: {
    where?: Condition[]
    after?: number
    with?: string[]
    sort?: 'ASC' | 'DESC'
    limit: number
    offset?: number
  },
): Promise<Page> {
  const answer = await mac.call({
    method: 'POST',
    path: '/message/query',
    json: { with: [], where: [], sort: 'ASC', offset: 0, ...ask },
    timeoutMs: QUERY_TIMEOUT_MS,
    maxBytes: QUERY_BYTES,
  })
  if (answer.status !== 200 || !Array.isArray(answer.data))
    throw new MacFault(answer, 'The messages could not be read')
  return {
    rows: answer.data.flatMap((one) => readRow(one) ?? []),
    size: answer.data.length,
    total: wholeOf(answer.metadata.total),
  }
}

const IDS_PER_QUERY = 100

/** Reads messages by id, without their chats: new rows have none yet. */
export async function rowsOf(mac: Mac, guids: readonly string[], also: Condition[] = []): Promise<Row[]> {
  const found: Row[] = []
  for (let from = 0; from < guids.length; from += IDS_PER_QUERY) {
    const some = guids.slice(from, from + IDS_PER_QUERY)
    const wanted = new Set(some)
    const where = [{ statement: 'message.guid IN (:...guids)', args: { guids: some } }, ...also]
    const { rows } = await queryPage(mac, { where, limit: IDS_PER_QUERY })
    found.push(...rows.filter((row) => wanted.has(row.guid)))
  }
  return found
}

/** The messages that Apple accepted. The server's answers omit this, but its database can be queried for it. */
export async function sentOf(mac: Mac, guids: readonly string[]): Promise<Set<string>> {
  const rows = await rowsOf(mac, guids, [{ statement: 'message.is_sent = :sent', args: { sent: 1 } }])
  return new Set(rows.map((row) => row.guid))
}

/**
 * The services that messages were sent over, which the answers omit as well. Messages that are not in the map went
 * over iMessage.
 */
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

/** A position in the Mac's database. The guid tells whether the database is still the same. */
export interface RowPosition {
  row: number
  guid: string
}

/** The message id at a row id; undefined if there is none. */
export async function guidAt(mac: Mac, row: number): Promise<string | undefined> {
  const where = [{ statement: 'message.ROWID = :r', args: { r: row } }]
  const { rows } = await queryPage(mac, { where, limit: 1 })
  return rows.find((one) => one.rowId === row)?.guid
}

/** One message with chats and attachments; undefined if the Mac does not have it. */
export async function rowOf(mac: Mac, guid: string): Promise<Row | undefined> {
  const answer = await mac.call({
    path: `/message/${inPath(guid)}`,
    query: { with: 'chats,attachments,message.attributed-body' },
  })
  if (answer.status === 404 && answer.isEnvelope) return undefined
  const row = answer.status === 200 ? readRow(answer.data) : undefined
  if (row?.guid !== guid) throw new MacFault(answer, 'The message could not be read')
  return row
}

const CHAT_PAGE = 500
const MAX_CHAT_PAGES = 10

/** Messages of a chat sent after this time. */
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
        timeoutMs: QUERY_TIMEOUT_MS,
        maxBytes: QUERY_BYTES,
      }),
    )
    rows.push(...data.flatMap((one) => readRow(one) ?? []))
    if (data.length < CHAT_PAGE) break
  }
  return rows
}
