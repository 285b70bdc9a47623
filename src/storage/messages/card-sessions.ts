import type { Sql } from '../engine/db.js'
import { findValue } from '../engine/query.js'

/** The next revision of a card session, counted from 1 for each contact. */
export async function nextRevision(
  sql: Sql,
  session: { accountId: string; lineId: string; contact: string; session: string },
): Promise<number> {
  const revision = await findValue<number>(
    sql,
    `insert into card_sessions (account_id, line_id, contact, session, revision) values ($1, $2, $3, $4, 1)
     on conflict (account_id, line_id, contact, session) do update set revision = card_sessions.revision + 1
     returning revision`,
    [session.accountId, session.lineId, session.contact, session.session],
  )
  return revision!
}
