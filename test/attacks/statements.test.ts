import { describe, expect, it } from 'vitest'
import { MAX_STATEMENTS } from '../../src/storage/engine/db.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { createStatements, loadSqlite } from '../../src/storage/engine/sqlite-statements.js'
import { createDatabase } from '../support/database.js'
import { ENGINES } from '../support/world.js'

/** Found: combinations of filters left 88 MB of prepared statements behind. */
describe('statements prepared for ever new combinations of filters', () => {
  const TEXTS = MAX_STATEMENTS + 500

  it.runIf(ENGINES.includes('sqlite'))(
    'are dropped on SQLite, oldest first, and prepared again when asked',
    async () => {
      const connection = (await loadSqlite())(':memory:')
      const prepared = new Map<string, number>()
      const prepare = (text: string) => {
        prepared.set(text, (prepared.get(text) ?? 0) + 1)
        return connection.prepare(text)
      }
      const statements = createStatements({ prepare } as Parameters<typeof createStatements>[0])
      for (let i = 0; i < TEXTS; i++) expect(statements.one(`select ${i} as n`, [])).toEqual({ n: i })
      for (const i of [0, TEXTS - 1]) expect(statements.one(`select ${i} as n`, [])).toEqual({ n: i })
      expect(prepared.get('select 0 as n')).toBe(2)
      expect(prepared.get(`select ${TEXTS - 1} as n`)).toBe(1)
      connection.close()
    },
  )

  it.runIf(ENGINES.includes('postgres'))('are deallocated on PostgreSQL, and work on', async () => {
    const database = await createDatabase()
    const db = await openPostgres(database.url, { poolSize: 1 })
    try {
      for (let i = 0; i < TEXTS; i++) expect(await db.one(`select ${i} as n`)).toEqual({ n: i })
      const kept = await db.one<{ n: number }>('select count(*) as n from pg_prepared_statements')
      expect(kept!.n).toBeLessThanOrEqual(MAX_STATEMENTS + 100)
      expect(await db.one('select 0 as n')).toEqual({ n: 0 })
    } finally {
      await db.close()
      await database.release()
    }
  })
})
