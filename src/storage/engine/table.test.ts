import { describe, expect, it } from 'vitest'
import type { Param, Row, Sql } from './db.js'
import { table } from './table.js'

interface Shelf {
  id: number
  shelfName: string
  heightMm: number | null
  isOpen: boolean | null
  labels: readonly string[] | null
}

const SHELVES = table<Shelf, Omit<Shelf, 'id'>>()('shelves', {
  serial: 'id',
  text: 'shelfName',
  number: 'heightMm',
  flag: 'isOpen',
  json: 'labels',
})

const SHELF: Shelf = { id: 7, shelfName: 'top', heightMm: 300, isOpen: false, labels: ['a'] }
const ROW: Row = { id: 7, shelf_name: 'top', height_mm: 300, is_open: 0, labels: '["a"]', hidden: 'x' }

/** Records the statements it receives. */
function recorder() {
  const calls: unknown[][] = []
  const record =
    (result: unknown) =>
    async (...call: unknown[]) => {
      calls.push(call)
      return result
    }
  const sql = { run: record(1), one: record(ROW), all: record([ROW]), updateMany: record([true]) }
  return { sql: sql as unknown as Sql, calls }
}

describe('a described table', () => {
  it('reads its own columns of a row and leaves the others', () => {
    expect(SHELVES.read(ROW)).toEqual(SHELF)
  })

  it('keeps null in every kind of column', () => {
    const blank = { ...SHELF, heightMm: null, isOpen: null, labels: null }
    const values = SHELVES.values(blank)
    expect(values).toEqual(['top', null, null, null])
    const names = Object.keys(SHELVES.columns)
    const row = Object.fromEntries(names.map((name, i) => [name, values[i] as Param]))
    expect(SHELVES.read({ ...row, id: 7 })).toEqual(blank)
  })

  it('gives columns and values in one order', () => {
    expect(SHELVES.columns).toEqual({
      shelf_name: 'text',
      height_mm: 'bigint',
      is_open: 'bigint',
      labels: 'text',
    })
    expect(SHELVES.values(SHELF)).toEqual(['top', 300, 0, '["a"]'])
  })

  it('inserts with further columns', async () => {
    const { sql, calls } = recorder()
    expect(await SHELVES.insert(sql, SHELF, { room_id: 'r' }, 'on conflict do nothing')).toBe(true)
    expect(calls).toEqual([
      [
        'insert into shelves (shelf_name,height_mm,is_open,labels,room_id) values ($1,$2,$3,$4,$5) on conflict do nothing',
        ['top', 300, 0, '["a"]', 'r'],
      ],
    ])
  })

  it('saves a record in place of the one with its key', async () => {
    const { sql, calls } = recorder()
    await SHELVES.save(sql, SHELF, 'shelfName')
    expect(calls[0]![0]).toContain(
      'on conflict (shelf_name) do update set height_mm = excluded.height_mm,is_open = excluded.is_open,labels = excluded.labels',
    )
  })

  it('updates the given fields only', async () => {
    const { sql, calls } = recorder()
    expect(await SHELVES.update(sql, [SHELF], 'shelfName', 'isOpen labels', 'x')).toEqual([true])
    expect(calls).toEqual([
      ['shelves', { shelf_name: 'text' }, { is_open: 'bigint', labels: 'text' }, [['top', 0, '["a"]']], 'x'],
    ])
  })

  it('finds and lists records', async () => {
    const { sql, calls } = recorder()
    expect(await SHELVES.find(sql, 'id = $1', [7])).toEqual(SHELF)
    expect(await SHELVES.list(sql, 'height_mm > $1 order by id', [1])).toEqual([SHELF])
    expect(calls).toEqual([
      ['select * from shelves where id = $1', [7]],
      ['select * from shelves where height_mm > $1 order by id', [1]],
    ])
  })

  it('does not compile with a missing, unknown or misspelled field', () => {
    // @ts-expect-error heightMm, isOpen and labels are missing
    table<Shelf>()('shelves', { serial: 'id', text: 'shelfName' })
    // @ts-expect-error color is not a field
    table<Shelf>()('shelves', {
      serial: 'id',
      text: 'shelfName color',
      number: 'heightMm',
      flag: 'isOpen',
      json: 'labels',
    })
    // @ts-expect-error colour is not a field
    void (() => SHELVES.update({} as Sql, [SHELF], 'shelfName', 'colour'))
  })
})
