import { randomUUID } from 'node:crypto'
import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite'

export type Service = 'iMessage' | 'SMS' | 'RCS'
type Value = string | number | null

/** Columns with the names of Messages, and their default values. */
const COLUMNS = {
  message: {
    guid: "text unique not null default ''",
    text: 'text',
    subject: 'text',
    country: 'text',
    handle_id: 'integer default 0',
    other_handle: 'integer default 0',
    service: 'text',
    destination_caller_id: 'text',
    error: 'integer default 0',
    date: 'integer default 0',
    date_read: 'integer default 0',
    date_delivered: 'integer default 0',
    date_played: 'integer default 0',
    date_edited: 'integer default 0',
    date_retracted: 'integer default 0',
    is_delivered: 'integer default 0',
    is_finished: 'integer default 1',
    is_from_me: 'integer default 0',
    is_read: 'integer default 0',
    is_sent: 'integer default 0',
    was_downgraded: 'integer default 0',
    is_delayed: 'integer default 0',
    is_auto_reply: 'integer default 0',
    is_system_message: 'integer default 0',
    is_service_message: 'integer default 0',
    is_forward: 'integer default 0',
    is_archive: 'integer default 0',
    is_audio_message: 'integer default 0',
    is_expirable: 'integer default 0',
    is_corrupt: 'integer default 0',
    is_spam: 'integer default 0',
    has_dd_results: 'integer default 0',
    cache_roomnames: 'text',
    item_type: 'integer default 0',
    group_title: 'text',
    group_action_type: 'integer default 0',
    share_status: 'integer default 0',
    share_direction: 'integer default 0',
    balloon_bundle_id: 'text',
    payload_data: 'text',
    associated_message_guid: 'text',
    associated_message_type: 'integer default 0',
    associated_message_emoji: 'text',
    expressive_send_style_id: 'text',
    thread_originator_guid: 'text',
    thread_originator_part: 'text',
    reply_to_guid: 'text',
    was_delivered_quietly: 'integer default 0',
    did_notify_recipient: 'integer default 0',
    part_count: 'integer default 1',
  },
  chat: {
    guid: "text unique not null default ''",
    style: 'integer',
    chat_identifier: 'text',
    service_name: 'text',
    room_name: 'text',
    display_name: "text default ''",
    group_id: 'text',
    is_archived: 'integer default 0',
    is_filtered: 'integer default 0',
    last_addressed_handle: 'text',
    properties: 'text',
  },
  handle: { id: 'text not null', service: 'text not null', country: 'text', uncanonicalized_id: 'text' },
  attachment: {
    guid: "text unique not null default ''",
    original_guid: 'text',
    uti: 'text',
    mime_type: 'text',
    transfer_name: 'text',
    total_bytes: 'integer default 0',
    transfer_state: 'integer default 5',
    is_outgoing: 'integer default 0',
    hide_attachment: 'integer default 0',
    is_sticker: 'integer default 0',
    height: 'integer default 0',
    width: 'integer default 0',
  },
} as const

export type Table = keyof typeof COLUMNS
export type Columns<T extends Table> = { [K in keyof (typeof COLUMNS)[T]]: Value }
export type MessageRow = Columns<'message'> & { ROWID: number; guid: string; service: Service }
export type ChatRow = Columns<'chat'> & { ROWID: number; guid: string; style: number }
export type HandleRow = {
  ROWID: number
  id: string
  service: Service
  country: string
  uncanonicalized_id: Value
}
export type AttachmentRow = Columns<'attachment'> & { ROWID: number; guid: string }
type RowOf = { message: MessageRow; chat: ChatRow; handle: HandleRow; attachment: AttachmentRow }

/** The file of an attachment. */
export interface File {
  name: string
  bytes: Buffer
  mimeType: string
  onDisk: boolean
  /** Download time if the file is not on disk; absent: it never arrives. */
  fetchMs?: number
}

const EPOCH_2001 = 978_307_200_000
const NS = 1_000_000
const isDate = (column: string) => column === 'date' || column.startsWith('date_')
/** Nanoseconds since 2001, too large for an exact JavaScript number. */
export const appleTime = (ms: number) => BigInt(Math.floor(ms) - EPOCH_2001) * BigInt(NS)

export function hasColumn(table: Table, column: string): boolean {
  return column === 'ROWID' || column in COLUMNS[table]
}

/** The columns of a table for a select, with times in milliseconds. */
export function columnsOf(table: Table): string {
  const names = Object.keys(COLUMNS[table]).map((name) =>
    isDate(name)
      ? `case when ${table}.${name} = 0 then null else ${table}.${name} / ${NS} + ${EPOCH_2001} end as ${name}`
      : `${table}.${name}`,
  )
  return [`${table}.ROWID as ROWID`, ...names].join(', ')
}

/** The database of Messages, in memory. It outlives the server in front of it. */
export type ChatDb = ReturnType<typeof createChatDb>

export function createChatDb(firstRowId: number) {
  const files = new Map<string, File>()
  let db = open(firstRowId)
  let prepared = new Map<string, StatementSyncInstance>()

  /** Caches statements, because most queries repeat. */
  function prepare(sql: string): StatementSyncInstance {
    let statement = prepared.get(sql)
    if (!statement) {
      statement = db.prepare(sql)
      prepared.set(sql, statement)
    }
    return statement
  }

  function insert<T extends Table>(table: T, row: Partial<Columns<T>>): RowOf[T] {
    const names = Object.keys(row)
    const values = names.map((name) => stored(name, row[name as keyof typeof row] as Value))
    const { lastInsertRowid } = prepare(
      `insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`,
    ).run(...values)
    return byId(table, Number(lastInsertRowid))!
  }

  const byId = <T extends Table>(table: T, id: number) =>
    one<RowOf[T]>(`select ${columnsOf(table)} from ${table} where ROWID = ?`, id)

  function one<R>(sql: string, ...params: Value[]): R | undefined {
    return prepare(sql).get(...params) as R | undefined
  }

  return {
    files,
    insert,
    byId,
    one,
    all: <R>(sql: string, ...params: Value[]) => prepare(sql).all(...params) as R[],
    named: <R>(sql: string, params: Record<string, Value | bigint>) => prepare(sql).all(params) as R[],
    run: (sql: string, ...params: Value[]) => void prepare(sql).run(...params),
    update<T extends Table>(table: T, id: number, changes: Partial<Columns<T>>) {
      const names = Object.keys(changes)
      const values = names.map((name) => stored(name, changes[name as keyof typeof changes] as Value))
      prepare(`update ${table} set ${names.map((name) => `${name} = ?`).join(', ')} where ROWID = ?`).run(
        ...values,
        id,
      )
    },
    message: (guid: string) =>
      one<MessageRow>(`select ${columnsOf('message')} from message where guid = ?`, guid),
    chat: (guid: string) => one<ChatRow>(`select ${columnsOf('chat')} from chat where guid = ?`, guid),
    /** Returns the handle of an address and service, created on first use. */
    handle(address: string, service: Service): HandleRow {
      const found = one<HandleRow>(
        `select ${columnsOf('handle')} from handle where id = ? and service = ?`,
        address,
        service,
      )
      return found ?? insert('handle', { id: address, service, country: 'us' })
    },
    /** Rewrites all rows that `keep` accepts in order of date, with new ROWIDs. Announces nothing. */
    rebuild(keep: (row: MessageRow) => boolean) {
      const old = db
      db = open(1)
      prepared = new Map()
      for (const table of ['handle', 'chat', 'attachment'] as const) copy(old, db, table, 'ROWID')
      copyJoin(old, db, 'chat_handle_join')
      const rows = old
        .prepare(`select ${columnsOf('message')} from message order by message.date, ROWID`)
        .all() as MessageRow[]
      for (const row of rows.filter(keep)) {
        const { ROWID: was, ...columns } = row
        const { ROWID: is } = insert('message', withZeroDates(columns))
        for (const join of ['chat_message_join', 'message_attachment_join'])
          for (const link of old.prepare(`select * from ${join} where message_id = ?`).all(was) as Link[])
            link_(db, join, { ...link, message_id: is })
      }
      old.close()
    },
    close: () => db.close(),
  }
}

type Link = Record<string, number>

function link_(db: DatabaseSyncInstance, table: string, link: Link) {
  const names = Object.keys(link)
  const marks = names.map(() => '?').join(', ')
  db.prepare(`insert or ignore into ${table} (${names.join(', ')}) values (${marks})`).run(
    ...Object.values(link),
  )
}

function copy(from: DatabaseSyncInstance, to: DatabaseSyncInstance, table: Table, order: string) {
  for (const row of from.prepare(`select * from ${table} order by ${order}`).all() as Link[])
    link_(to, table, row)
}

function copyJoin(from: DatabaseSyncInstance, to: DatabaseSyncInstance, table: string) {
  for (const row of from.prepare(`select * from ${table} order by rowid`).all() as Link[])
    link_(to, table, row)
}

function withZeroDates<R extends object>(row: R): R {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isDate(name) ? (value ?? 0) : value]),
  ) as R
}

function stored(name: string, value: Value): Value | bigint {
  return isDate(name) && typeof value === 'number' && value !== 0 ? appleTime(value) : value
}

function open(firstRowId: number): DatabaseSyncInstance {
  const db = new DatabaseSync(':memory:')
  for (const [table, columns] of Object.entries(COLUMNS)) {
    const lines = Object.entries(columns).map(([name, type]) => `${name} ${type}`)
    const unique = table === 'handle' ? ', unique (id, service)' : ''
    db.exec(`create table ${table} (ROWID integer primary key autoincrement, ${lines.join(', ')}${unique})`)
  }
  db.exec(`
    create table chat_message_join (chat_id integer, message_id integer, primary key (chat_id, message_id));
    create table chat_handle_join (chat_id integer, handle_id integer, unique (chat_id, handle_id));
    create table message_attachment_join (message_id integer, attachment_id integer, unique (message_id, attachment_id));
    create index message_by_date on message (date);
    create index join_by_message on chat_message_join (message_id);
    insert into sqlite_sequence (name, seq) values ('message', ${firstRowId - 1});
  `)
  return db
}

export const newGuid = () => randomUUID().toUpperCase()
