import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IMPERSONAL } from '../../src/storage/erasure/impersonal.js'
import { PERSON_TABLES } from '../../src/storage/erasure/tables.js'
import { namesOf } from '../../src/storage/erasure/walk.js'
import { createWorld, ENGINES, type World } from '../support/world.js'

describe.each(ENGINES)('the tables that an erasure knows on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  /** Text columns by table. */
  const columns = async () => {
    const { db } = world.app.ctx
    const rows =
      engine === 'sqlite'
        ? await db.all<{ name: string; column: string | null }>(
            `select m.name, case when lower(c.type) = 'text' then c.name end as "column"
             from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table'`,
          )
        : await db.all<{ name: string; column: string | null }>(
            `select table_name as name, case when data_type = 'text' then column_name end as "column"
             from information_schema.columns where table_schema = 'public'`,
          )
    const tables = new Map<string, string[]>()
    for (const { name, column } of rows)
      tables.set(name, [...(tables.get(name) ?? []), ...(column === null ? [] : [column])])
    return tables
  }

  it('are all tables: a new one must be listed in src/storage/erasure, in tables.ts or impersonal.ts', async () => {
    const names = [...(await columns()).keys()]
    expect(names.length).toBeGreaterThan(60)
    const known = [...PERSON_TABLES.map(({ name }) => name), ...Object.keys(IMPERSONAL)]
    expect(names.filter((name) => !known.includes(name))).toEqual([])
    expect(known.length).toBe(new Set(known).size)
  })

  it.each(PERSON_TABLES.map((table) => [table.name, table] as const))(
    '%s with all its text columns, each once',
    async (name, table) => {
      const listed = [table.own, table.text, table.plain].flatMap(namesOf)
      expect(listed.sort()).toEqual([...(await columns()).get(name)!].sort())
    },
  )
})
