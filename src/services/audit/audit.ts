import { createBatch } from '../../base/batch.js'
import { type AuditEntry, type AuditRow, chainAfter, redactionOf } from '../../core/audit/audit.js'
import {
  appendRows,
  findEnds,
  insertOpenChanges,
  listFirstRows,
  listOpenChanges,
  type OpenChange,
  removeOpenChanges,
  removeRowsThrough,
} from '../../storage/audit/audit.js'
import { MissingValue, type Writes } from '../../storage/engine/db.js'
import { saveAuditObjects } from '../../storage/erasure/audit.js'
import type { Ctx } from '../ctx.js'

const AT_ONCE = 500
/** Longer than any request takes; a change that is open for longer belongs to a process that stopped. */
const OPEN_MS = 15 * 60_000
const DAY_MS = 24 * 3_600_000

/** The writer of the audit log: changes that arrive together share a transaction. */
export interface AuditTrail {
  /** Stores that a change begins. Resolves, with the change's id, when that is on disk. */
  begin(entry: AuditEntry): Promise<string>
  /** Appends the change to the log. `id` is undefined for a change that was not begun, such as a refused one. */
  end(id: string | undefined, entry: AuditEntry): Promise<void>
}

type EndedChange = { id: string | undefined; entry: AuditEntry }

export function createAuditTrail(ctx: Pick<Ctx, 'db' | 'newId'>): AuditTrail {
  const begun = createBatch<OpenChange, void>(
    async (changes) => {
      await ctx.db.write((sql) => insertOpenChanges(sql, changes))
      return changes.map(() => undefined)
    },
    () => true,
  )
  const ended = createBatch<EndedChange, void>(
    async (changes) => {
      await append(ctx, async () => changes)
      return changes.map(() => undefined)
    },
    () => true,
  )
  return {
    async begin(entry) {
      const id = ctx.newId()
      await begun.add({ id, begunAt: Date.now(), entry })
      return id
    },
    end: (id, entry) => ended.add({ id, entry }),
  }
}

/**
 * Appends changes behind the newest row. No lock is held between reading that row and writing: if another process
 * appends in between, the write fails and starts again, so a process that is paused here stops no other.
 */
async function append(
  ctx: Pick<Ctx, 'db'>,
  changes: () => Promise<readonly EndedChange[]>,
  besides?: (sql: Writes) => Promise<unknown>,
): Promise<number> {
  for (;;) {
    const { head } = await findEnds(ctx.db)
    // Read after the head: if the head is still the newest row at the write, no other process has appended these.
    const ended = await changes()
    if (ended.length === 0) return 0
    const rows = chainAfter(
      head,
      ended.map(({ entry }) => entry),
    )
    const ids = ended.flatMap(({ id }) => id ?? [])
    try {
      await ctx.db.write(async (sql) => {
        await appendRows(sql, head, rows)
        if (ids.length > 0) await removeOpenChanges(sql, ids)
        await besides?.(sql)
      })
      return ended.length
    } catch (error) {
      if (!(error instanceof MissingValue)) throw error
    }
  }
}

/**
 * Stores, in its own transaction, a change that the server makes by itself. It has begun before every other change, so
 * that the next `endLostChanges` appends it.
 */
export async function recordOwnChange(
  ctx: Pick<Ctx, 'newId'>,
  sql: Writes,
  change: Pick<AuditEntry, 'action' | 'object'>,
): Promise<void> {
  await insertOpenChanges(sql, [{ id: ctx.newId(), begunAt: 0, entry: ownEntry(change) }])
}

function ownEntry({ action, object }: Pick<AuditEntry, 'action' | 'object'>): AuditEntry {
  const nobody = {
    actorId: null,
    keyId: null,
    accountId: null,
    seatId: null,
    address: null,
    forwardedFor: null,
  }
  return {
    ...nobody,
    ...{ at: Date.now(), actor: 'server', action, object, fields: null, status: 200 },
  }
}

/** Changes the objects of rows, and appends a row for each that vouches for what the row says now. */
export async function redactRows(ctx: Pick<Ctx, 'db'>, rows: readonly AuditRow[]): Promise<void> {
  const vouching = rows.map((row) => ({ id: undefined, entry: ownEntry(redactionOf(row)) }))
  await append(
    ctx,
    async () => vouching,
    (sql) => saveAuditObjects(sql, rows),
  )
}

/** Appends changes whose process stopped before it answered: whether the change was made is then unknown. */
export async function endLostChanges(ctx: Ctx, atStart: boolean): Promise<void> {
  // SQLite has one process: before it listens, every open change belongs to an earlier one.
  const before = Date.now() + (atStart && ctx.db.engine === 'sqlite' ? 1 : -OPEN_MS)
  while (await append(ctx, () => listOpenChanges(ctx.db, before, AT_ONCE))) {}
}

/** Removes rows that are older than the setting says, from the beginning of the chain. */
export async function dropOldAudit(ctx: Ctx): Promise<void> {
  const { auditDays } = ctx.config
  if (auditDays === 0) return
  const until = Date.now() - auditDays * DAY_MS
  for (;;) {
    const rows = await listFirstRows(ctx.db, AT_ONCE)
    const kept = rows.findIndex(({ at }) => at >= until)
    const last = (kept === -1 ? rows : rows.slice(0, kept)).at(-1)
    if (!last) return
    await ctx.db.write((sql) => removeRowsThrough(sql, last))
    if (kept !== -1) return
  }
}
