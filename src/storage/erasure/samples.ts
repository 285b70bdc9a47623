import type { Db } from '../engine/db.js'
import { PERSON_TABLES } from './tables.js'

/** PostgreSQL keeps frequent values of columns for its plans. A new look at the tables forgets values that are gone. */
export async function forgetSamples(db: Db): Promise<void> {
  if (db.engine === 'sqlite') return
  for (const { name } of PERSON_TABLES) await db.run(`analyze ${name}`)
}
