import { BLANK_MESSAGE, MESSAGE_FIELDS, type Message, type NewMessage } from '../../core/messages/message.js'
import { asBoolean, type ColumnType, fromBoolean, type Param, type Row } from '../engine/db.js'

/** Messages as rows, and back: both follow from the table of fields. */

type Name = keyof typeof MESSAGE_FIELDS

interface MessageColumn {
  name: string
  type: ColumnType
  changes: boolean
  of(message: NewMessage): Param
}

/** Columns of the fields that are small objects. The first one is null when the field is. */
const PARTS: Partial<Record<Name, readonly [column: string, part: string, type: ColumnType][]>> = {
  replyTo: [
    ['reply_to', 'handle', 'text'],
    ['reply_to_part', 'partIndex', 'bigint'],
  ],
  error: [
    ['error_code', 'code', 'bigint'],
    ['error_message', 'message', 'text'],
    ['error_reason', 'reason', 'text'],
    ['error_detail', 'detail', 'text'],
  ],
}

const TO_PARAM = {
  text: (value: unknown) => value as Param,
  number: (value: unknown) => value as Param,
  flag: (value: unknown) => fromBoolean(value as boolean | null),
  json: (value: unknown) => (value === null ? null : JSON.stringify(value)),
}

const FROM_PARAM = {
  text: (value: Param) => value,
  number: (value: Param) => value,
  flag: (value: Param) => asBoolean(value),
  json: (value: Param) => (value === null ? null : JSON.parse(value as string)),
}

const NAMES = Object.keys(MESSAGE_FIELDS) as Name[]

export const MESSAGE_COLUMNS: readonly MessageColumn[] = NAMES.flatMap(columnsOf)

function columnsOf(name: Name): MessageColumn[] {
  const { kind, traits } = MESSAGE_FIELDS[name]
  const changes = 'changes' in traits
  if (kind === 'parts')
    return PARTS[name]!.map(([column, part, type]) => ({
      name: column,
      type,
      changes,
      of: (message) => (message[name] as Record<string, Param> | null)?.[part] ?? null,
    }))
  const type = kind === 'number' || kind === 'flag' ? 'bigint' : 'text'
  const toParam = TO_PARAM[kind]
  return [{ name: columnOf(name), type, changes, of: (message) => toParam(message[name]) }]
}

function columnOf(name: Name): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

const READERS = NAMES.map((name): [name: Name, read: (row: Row) => unknown] => {
  const { kind } = MESSAGE_FIELDS[name]
  if (kind !== 'parts') {
    const [column, fromParam] = [columnOf(name), FROM_PARAM[kind]]
    return [name, (row) => fromParam(row[column] as Param)]
  }
  const parts = PARTS[name]!
  const first = parts[0]![0]
  return [
    name,
    (row) =>
      row[first] === null ? null : Object.fromEntries(parts.map(([column, part]) => [part, row[column]])),
  ]
})

export function fromMessage(message: NewMessage): Param[] {
  return MESSAGE_COLUMNS.map((column) => column.of(message))
}

export function toMessage(row: Row): Message {
  const message: Record<string, unknown> = { ...BLANK_MESSAGE, id: row.id }
  for (const [name, read] of READERS) message[name] = read(row)
  return message as unknown as Message
}
