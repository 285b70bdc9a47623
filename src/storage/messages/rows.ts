import { compile } from '../../base/compile.js'
import { MESSAGE_FIELDS, type Message, type NewMessage } from '../../core/messages/message.js'
import type { ColumnType, Param, Row } from '../engine/db.js'
import { CODECS, columnOf } from '../engine/table.js'

/** Messages as rows, and back: both follow from the table of fields. */

type Name = keyof typeof MESSAGE_FIELDS

interface MessageColumn {
  name: string
  type: ColumnType
  changes: boolean
  /** Source text of its value, made of a message `m`. */
  value: string
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

const NAMES = Object.keys(MESSAGE_FIELDS) as Name[]

export const MESSAGE_COLUMNS: readonly MessageColumn[] = NAMES.flatMap(columnsOf)

function columnsOf(name: Name): MessageColumn[] {
  const { kind, traits } = MESSAGE_FIELDS[name]
  const column = (column: string, type: ColumnType, value: string): MessageColumn => ({
    name: column,
    type,
    changes: 'changes' in traits,
    value,
    of: compile(['m'], `return ${value}`),
  })
  if (kind === 'parts')
    return PARTS[name]!.map(([part, key, type]) =>
      column(part, type, `m.${name} === null ? null : m.${name}.${key}`),
    )
  const { type, write } = CODECS[kind]
  return [column(columnOf(name), type, write(`m.${name}`))]
}

/** Source text of a field's value, made of a row `r`. */
function readingOf(name: Name): string {
  const { kind } = MESSAGE_FIELDS[name]
  if (kind !== 'parts') return CODECS[kind].read(`r.${columnOf(name)}`)
  const parts = PARTS[name]!
  const object = parts.map(([column, key]) => `${key}: r.${column}`).join(', ')
  return `r.${parts[0]![0]} === null ? null : { ${object} }`
}

export const fromMessage: (message: NewMessage) => Param[] = compile(
  ['m'],
  `return [${MESSAGE_COLUMNS.map(({ value }) => value).join(', ')}]`,
)

export const toMessage: (row: Row) => Message = compile(
  ['r'],
  `return { id: r.id, ${NAMES.map((name) => `${name}: ${readingOf(name)}`).join(', ')} }`,
)
