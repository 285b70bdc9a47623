import type { Service } from '../../core/messages/message.js'
import type { OpenSend } from '../../core/messages/outcome.js'
import type { Row, Sql } from '../engine/db.js'
import { findPartRefs, listAttemptParts } from './attempt-parts.js'
import { type Attempt, findAttemptsByProvider, findAttemptsByRef } from './attempts.js'

/** The sends that these ids of the carrier's name, whole or by one of their parts. */
export async function findSends(
  sql: Sql,
  lineId: string,
  providerIds: readonly string[],
): Promise<Map<string, Attempt>> {
  const sends = await findAttemptsByProvider(sql, lineId, providerIds)
  // Few are sent in parts: nobody else is to pay for that.
  const rest = providerIds.filter((id) => !sends.has(id))
  const refs = await findPartRefs(sql, lineId, rest)
  const ofParts = await findAttemptsByRef(sql, [...new Set(refs.values())])
  for (const [id, ref] of refs) {
    const attempt = ofParts.get(ref)
    if (attempt) sends.set(id, attempt)
  }
  return sends
}

const OPEN_SENDS = 1000
/** Attempts of all lines that are looked through for them: a start must not take longer the more there were. */
const LOOKED_AT = 10_000

const OPEN_SEND = 'a.ref, a.provider_id, m.contact, m.content, m.status, a.service, a.wire_at'

/**
 * Sends whose end is not known, newest first: all that are in doubt, and of the latest those that were given up, or
 * taken and not heard of since. With `unread`, also those that were delivered and nobody has read.
 */
export async function listOpenSends(
  sql: Sql,
  lineId: string,
  sinceRef: string,
  unread: boolean,
): Promise<OpenSend[]> {
  const taken = unread
    ? "m.status in ('ACCEPTED', 'SENT', 'DELIVERED') and a.read_at is null"
    : "m.status in ('ACCEPTED', 'SENT')"
  const inDoubt = await sql.all(
    `select ${OPEN_SEND} from messages m join attempts a on a.message_id = m.id and a.n >= m.attempts
     where m.line_id = $1 and m.next_action_at is not null and m.due_at is null and a.ref >= $2
     and a.state in ('on_wire', 'unknown') order by a.ref desc limit $3`,
    [lineId, sinceRef, OPEN_SENDS],
  )
  const latest = await sql.all(
    `select ${OPEN_SEND} from (select * from attempts where ref >= $1 order by ref desc limit $4) a
     join messages m on m.id = a.message_id
     where a.line_id = $2
     and ((a.state = 'given_up' and m.status = 'ERROR') or (a.state = 'accepted' and ${taken}))
     order by a.ref desc limit $3`,
    [sinceRef, lineId, OPEN_SENDS, LOOKED_AT],
  )
  const sends = [...inDoubt, ...latest]
    .map(toOpenSend)
    .sort((a, b) => (a.ref < b.ref ? 1 : -1))
    .slice(0, OPEN_SENDS)
  const parts = await listAttemptParts(
    sql,
    sends.flatMap(({ ref, providerId }) => (providerId === null ? [] : ref)),
  )
  return sends.map((send) => {
    const partIds = parts.get(send.ref)?.map(({ providerId }) => providerId)
    return partIds ? { ...send, partIds } : send
  })
}

function toOpenSend(row: Row): OpenSend {
  return {
    ref: row.ref as string,
    providerId: row.provider_id as string | null,
    to: row.contact as string,
    content: row.content as string,
    service: row.service as Service,
    wireAt: row.wire_at as number,
    isDelivered: row.status === 'DELIVERED',
  }
}
