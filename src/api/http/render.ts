import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Static, TArray, TObject, TSchema } from 'typebox'
import { formatTime } from '../../base/time.js'
import { nextTurn } from '../../base/turns.js'

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name

type TimeAsText<Value> = Value extends number ? string : Value

/** Whether a wire field shows the row's field of the same name. */
type IsSameName<Row, Name, Value> =
  Camel<Name> extends keyof Row
    ? [Row[Camel<Name>]] extends [Value]
      ? true
      : [TimeAsText<Row[Camel<Name>]>] extends [Value]
        ? true
        : false
    : false

type OtherFields<Row, Wire> = {
  [Name in keyof Wire as IsSameName<Row, Name, Wire[Name]> extends true ? never : Name]: (
    row: Row,
  ) => Wire[Name]
} & { [Name in keyof Wire]?: (row: Row) => Wire[Name] }

/**
 * A function that shows rows as their schema describes them: `created_at` shows `createdAt`, and a number where the
 * schema has a text is a time. `others` gives the values of fields that have another name or form in the row; the
 * compiler lists them.
 */
export function renderer<Row extends object>() {
  return <S extends TObject>(schema: S, others: OtherFields<Row, Static<S>>): ((row: Row) => Static<S>) => {
    const given = others as Record<string, ((row: Row) => unknown) | undefined>
    const fields = Object.entries(schema.properties).map(([name, field]) => ({
      name,
      read: given[name] ?? readerOf<Row>(camelCase(name) as keyof Row, isText(field)),
    }))
    return (row) => Object.fromEntries(fields.map(({ name, read }) => [name, read(row)])) as Static<S>
  }
}

function isText(field: TSchema): boolean {
  const { type } = field as { type?: unknown }
  return type === 'string' || (Array.isArray(type) && type[0] === 'string')
}

function readerOf<Row>(name: keyof Row, isText: boolean): (row: Row) => unknown {
  if (!isText) return (row) => row[name]
  return (row) => {
    const value = row[name]
    return typeof value === 'number' ? formatTime(value) : value
  }
}

/** Wire names are snake_case; everything behind the API is camelCase. */

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** A list whose rows may be large. */
interface LongList<Id, Wire extends TSchema> {
  /** The account or key whose turns of the event loop the work takes. */
  owner: string
  /** Ids of the rows to read and write at once. */
  pieces: readonly (readonly Id[])[]
  rows: TArray<Wire>
  read(ids: readonly Id[]): Promise<Static<Wire>[]>
  /** JSON before the rows. */
  head?: string
  /** JSON after this number of rows. */
  tail?(count: number): string
}

/**
 * Answers with a list piece by piece, each read when the client has taken the one before: however large the rows are,
 * the answer takes little memory and short turns of the event loop.
 */
export async function sendList<Id, Wire extends TSchema>(
  reply: FastifyReply,
  list: LongList<Id, Wire>,
): Promise<never> {
  const parts = partsOf(reply, list)
  reply.type('application/json; charset=utf-8')
  if (list.pieces.length > 1) return reply.send(Readable.from(parts)) as never
  let text = ''
  for await (const part of parts) text += part
  return reply.send(text) as never
}

async function* partsOf<Id, Wire extends TSchema>(
  reply: FastifyReply,
  { owner, pieces, rows, read, head = '', tail = () => '' }: LongList<Id, Wire>,
): AsyncGenerator<string> {
  const serialize = reply.compileSerializationSchema(rows as unknown as Record<string, unknown>)
  let count = 0
  let before = `${head}[`
  for (const ids of pieces) {
    await nextTurn(owner)
    const found = await read(ids)
    if (found.length === 0) continue
    yield before + serialize(found as never).slice(1, -1)
    before = ','
    count += found.length
  }
  yield `${count === 0 ? before : ''}]${tail(count)}`
}
