import type { Status } from '../../core/messages/message.js'
import type { OpenSend } from '../../core/messages/open-send.js'
import type { Sql } from '../engine/db.js'
import { findPartRefs, listAttemptParts } from './attempt-parts.js'
import { type Attempt, findAttemptsByProvider, findAttemptsByRef } from './attempts.js'

/** The sends with these provider ids, as a whole or for one of their parts. */
export async function findSends(
  sql: Sql,
  lineId: string,
  providerIds: readonly string[],
): Promise<Map<string, Attempt>> {
  const sends = await findAttemptsByProvider(sql, lineId, providerIds)
  // Few sends have parts, so parts are looked up only for ids not found yet.
  const rest = providerIds.filter((id) => !sends.has(id))
  const refs = await findPartRefs(sql, lineId, rest)
  const ofParts = await findAttemptsByRef(sql, [...new Set(refs.values())])
  for (const [id, ref] of refs) {
    const attempt = ofParts.get(ref)
    if (attempt) sends.set(id, attempt)
  }
  return sends
}

const MAX_OPEN_SENDS = 1000
/** Maximum number of attempts to search, so that a start takes bounded time. */
const MAX_SEARCHED = 10_000

const OPEN_SEND =
  'a.ref, a.provider_id as "providerId", m.contact as "to", m.content, m.status, a.service, a.wire_at as "wireAt"'
type OpenSendRow = Omit<OpenSend, 'isDelivered'> & { status: Status }

/**
 * Sends without a final status, newest first: all sends in doubt, and recent ones that were given up, or accepted
 * without a later receipt. `unread` adds delivered sends that were not read. Accepted sends take the room that the
 * others leave: a carrier may owe thousands of receipts.
 */
export async function listOpenSends(
  sql: Sql,
  lineId: string,
  sinceRef: string,
  unread: boolean,
): Promise<OpenSend[]> {
  const inDoubt = await sql.all<OpenSendRow>(
    `select ${OPEN_SEND} from messages m join attempts a on a.message_id = m.id and a.n >= m.attempts
     where m.line_id = $1 and m.next_action_at is not null and m.due_at is null and a.ref >= $2
     and a.state in ('on_wire', 'unknown') order by a.ref desc limit $3`,
    [lineId, sinceRef, MAX_OPEN_SENDS],
  )
  const givenUp = await sql.all<OpenSendRow>(
    `select ${OPEN_SEND} from attempts a join messages m on m.id = a.message_id
     where a.line_id = $1 and a.ref >= $2 and a.state = 'given_up' and m.status = 'ERROR'
     order by a.ref desc limit $3`,
    [lineId, sinceRef, MAX_OPEN_SENDS],
  )
  const unknown = [...inDoubt, ...givenUp].slice(0, MAX_OPEN_SENDS)
  const taken = unread
    ? "m.status in ('ACCEPTED', 'SENT', 'DELIVERED') and a.read_at is null"
    : "m.status in ('ACCEPTED', 'SENT')"
  const accepted = await sql.all<OpenSendRow>(
    `select ${OPEN_SEND} from (select * from attempts where ref >= $1 order by ref desc limit $4) a
     join messages m on m.id = a.message_id
     where a.line_id = $2 and a.state = 'accepted' and ${taken}
     order by a.ref desc limit $3`,
    [sinceRef, lineId, MAX_OPEN_SENDS - unknown.length, MAX_SEARCHED],
  )
  const sends = [...unknown, ...accepted]
    .map(({ status, ...send }): OpenSend => ({ ...send, isDelivered: status === 'DELIVERED' }))
    .sort((a, b) => (a.ref < b.ref ? 1 : -1))
  const parts = await listAttemptParts(
    sql,
    sends.flatMap(({ ref, providerId }) => (providerId === null ? [] : ref)),
  )
  return sends.map((send) => {
    const partIds = parts.get(send.ref)?.map(({ providerId }) => providerId)
    return partIds ? { ...send, partIds } : send
  })
}
