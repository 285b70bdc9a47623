import type { Db, Reads, Sql } from '../../src/storage/engine/db.js'
import type { Life } from './life.js'

/** The database as one process sees it. The database itself survives the process. */
export function mortalDb(base: Db, life: Life): Db {
  const reads: Pick<Reads, 'all' | 'one'> = {
    all: (sql, params) => life.through(() => base.all(sql, params)),
    one: (sql, params) => life.through(() => base.one(sql, params)),
  }
  const inside = (sql: Sql): Sql => ({
    ...sql,
    all: (text, params) => life.inside(() => sql.all(text, params)),
    one: (text, params) => life.inside(() => sql.one(text, params)),
    run: (text, params) => life.inside(() => sql.run(text, params)),
    insertMany: (...args) => life.inside(() => sql.insertMany(...args)),
    updateMany: (...args) => life.inside(() => sql.updateMany(...args)),
  })
  const db: Db = {
    ...base,
    ...reads,
    get upkeep() {
      return db
    },
    aside: () => ({ ...base, ...reads }),
    run: (sql, params) => life.through(() => base.run(sql, params)),
    insertMany: (...args) => life.through(() => base.insertMany(...args)),
    updateMany: (...args) => life.through(() => base.updateMany(...args)),
    tx: (fn) => life.through(() => base.tx((sql) => fn(inside(sql)))),
    write: (fn) => life.through(() => base.write(fn)),
    onAnnounce: (handler) => base.onAnnounce((hint) => (life.isOver() ? undefined : handler(hint))),
    scrub: () => life.through(() => base.scrub()),
    activity: life.activity,
    close: async () => {},
  }
  return db
}
