import { appleTime, type ChatDb, columnsOf, hasColumn, type MessageRow, type Table } from '../chat-db.js'

export interface Predicate {
  statement: string
  args?: Record<string, unknown> | null
}

export interface MessageQuery {
  chatGuid?: string | null
  /** Only rows that are linked to a chat. */
  withChats?: boolean
  where?: readonly Predicate[]
  after?: number | null
  before?: number | null
  sort?: string | null
  limit?: number
  offset?: number
  fromMe?: boolean
  minRowId?: number | null
  maxRowId?: number | null
}

type Params = Record<string, string | number | null | bigint>

const TABLES = ['message', 'chat', 'handle', 'attachment']
const SPECIAL: Record<string, string> = { dateCreated: 'date', isArchived: 'is_archive', address: 'id' }

/**
 * Rows in order of date, independent of ROWIDs, and their total number. Predicates are SQL fragments over any
 * column.
 */
export function findMessages(db: ChatDb, question: MessageQuery): { rows: MessageRow[]; total: number } {
  const { text, params } = conditions(question)
  const [{ total }] = db.named<{ total: number }>(
    `select count(distinct message.ROWID) as total ${text}`,
    params,
  ) as [{ total: number }]
  const order = question.sort === 'ASC' ? 'asc' : 'desc'
  const rows = db.named<MessageRow>(
    `select distinct ${columnsOf('message')} ${text} order by message.date ${order}, message.ROWID ${order}
     limit ${question.limit ?? 100} offset ${question.offset ?? 0}`,
    params,
  )
  return { rows, total }
}

export const countMessages = (db: ChatDb, question: MessageQuery) =>
  findMessages(db, { ...question, limit: 1 }).total

function conditions(question: MessageQuery): { text: string; params: Params } {
  const params: Params = {}
  const parts: string[] = []
  const add = (text: string, name: string, value: Params[string]) => {
    parts.push(text)
    params[name] = value
  }
  if (question.chatGuid) add('chat.guid = :chat_guid', 'chat_guid', question.chatGuid)
  if (question.fromMe) parts.push('message.is_from_me = 1')
  if (question.minRowId != null) add('message.ROWID >= :min_row_id', 'min_row_id', question.minRowId)
  if (question.maxRowId != null) add('message.ROWID <= :max_row_id', 'max_row_id', question.maxRowId)
  if (question.after) add('message.date >= :after_date', 'after_date', appleTime(question.after))
  if (question.before) add('message.date <= :before_date', 'before_date', appleTime(question.before))
  for (const { statement, args } of question.where ?? [])
    parts.push(`(${predicate(statement, args ?? {}, params)})`)
  const chats = question.chatGuid || question.withChats
  return {
    text: `from message left join handle on handle.ROWID = message.handle_id ${
      chats
        ? 'join chat_message_join link on link.message_id = message.ROWID join chat on chat.ROWID = link.chat_id'
        : ''
    } ${parts.length ? `where ${parts.join(' and ')}` : ''}`,
    params,
  }
}

/** Translates property names to columns and `:...list` to its members, like the server's query builder. */
function predicate(statement: string, args: Record<string, unknown>, params: Params): string {
  return statement
    .replace(/\b(\w+)\.(\w+)\b/g, (all, table: string, property: string) =>
      TABLES.includes(table) ? `${table}.${columnFor(table as Table, property)}` : all,
    )
    .replace(/:(\.\.\.)?(\w+)/g, (all, spread: string | undefined, name: string) => {
      if (!(name in args)) return all
      const values = spread ? (args[name] as unknown[]) : [args[name]]
      return values
        .map((value, i) => {
          const key = spread ? `${name}_${i}` : name
          params[key] = typeof value === 'boolean' ? Number(value) : (value as Params[string])
          return `:${key}`
        })
        .join(', ')
    })
}

function columnFor(table: Table, property: string): string {
  if (hasColumn(table, property)) return property
  const snake = property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  if (hasColumn(table, snake)) return snake
  return SPECIAL[property] ?? property
}
