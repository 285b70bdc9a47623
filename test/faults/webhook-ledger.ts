import { loadConfig } from '../../src/config.js'
import { openPostgres } from '../../src/storage/engine/postgres.js'
import { openSqlite } from '../../src/storage/engine/sqlite.js'
import type { Received } from '../support/web/sink.js'
import type { Engine } from '../support/world.js'

/** The ids of all events that an outbound webhook was to hear of, from the log itself. */
export async function listEmitted(engine: Engine, storage: Record<string, string>): Promise<string[]> {
  const config = loadConfig(storage)
  const db = engine === 'postgres' ? await openPostgres(config.databaseUrl!) : await openSqlite(config.data)
  try {
    const rows = await db.all<{ account_id: string; seq: number }>(
      "select account_id, seq from events where type in ('message.created', 'message.updated')",
    )
    return rows.map((row) => `evt_${row.account_id}_${row.seq}`)
  } finally {
    await db.close()
  }
}

/** Messages of which the receiver heard something older after something newer, with all posts about them. */
export function outOfOrder(received: readonly Received[]): string[] {
  const seqOf = ({ headers }: Received) => Number(headers['x-trunkline-sequence'])
  const latest = new Map<string, number>()
  return received.flatMap((post) => {
    const handle = post.body.message_handle
    const seq = seqOf(post)
    const before = latest.get(handle) ?? 0
    latest.set(handle, Math.max(before, seq))
    if (seq >= before) return []
    const posts = received.filter(({ body }) => body.message_handle === handle)
    const story = posts.map((one) => `${seqOf(one)} at ${new Date(one.at).toISOString()}`)
    return [`${handle}: ${seq} after ${before} (${story.join(', ')})`]
  })
}
