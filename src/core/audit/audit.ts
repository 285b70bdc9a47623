import { hash } from 'node:crypto'

/** Who did what to which object, and how it ended. Holds names and ids, never secrets or contents. */
export interface AuditEntry {
  /** When the change began, by the machine's clock: moving a simulated world's clock does not change it. */
  at: number
  actor: AuditActor
  /** The id of the key, token or console session. */
  actorId: string | null
  /** The key itself, or the key behind the token or session. */
  keyId: string | null
  /** The account that was acted for; null for an admin. */
  accountId: string | null
  seatId: string | null
  /** The other end of the connection; null for a command that works on the database directly. */
  address: string | null
  /** What the request's headers say about addresses behind a proxy. Anyone can write these headers. */
  forwardedFor: string | null
  /** Method and route; a command or an act of the server in words. */
  action: string
  object: string | null
  /** Names of the fields that the request gave, separated by spaces. */
  fields: string | null
  /** The HTTP status of the answer; null if the process stopped before it answered. */
  status: number | null
}

export const AUDIT_ACTORS = ['key', 'token', 'console', 'cli', 'server'] as const
export type AuditActor = (typeof AUDIT_ACTORS)[number]

export interface AuditRow extends AuditEntry, ChainLink {}

/** A place in the chain. Before the first row: number 0 and an empty hash. */
export interface ChainLink {
  seq: number
  hash: string
}

/** The entries as the rows that follow a link. */
export function chainAfter(last: ChainLink, entries: readonly AuditEntry[]): AuditRow[] {
  const rows: AuditRow[] = []
  for (const entry of entries) {
    const { seq, hash } = rows.at(-1) ?? last
    rows.push({ ...entry, seq: seq + 1, hash: hashOf(hash, seq + 1, entry) })
  }
  return rows
}

/** Rows whose object was erased, by number, with the hash of what they say now. A later row must vouch for each. */
export type RedactedRows = Map<number, string>

/** The row of the log that vouches for a redacted row. */
export const REDACTION = 'redact audit row'

export function redactionOf(row: AuditRow): Pick<AuditEntry, 'action' | 'object'> {
  return { action: REDACTION, object: `${row.seq}:${hashOf('', row.seq, row)}` }
}

/**
 * Finds what is wrong with rows that should follow a link; undefined if nothing is. `redacted` collects rows that do not
 * have their hash because an erasure has changed them, until a later row vouches for them.
 */
export function faultAfter(
  last: ChainLink,
  rows: readonly AuditRow[],
  redacted: RedactedRows,
): string | undefined {
  let { seq, hash } = last
  for (const row of rows) {
    if (row.seq !== seq + 1)
      return row.seq === seq + 2
        ? `Row ${seq + 1} is missing.`
        : `Rows ${seq + 1} to ${row.seq - 1} are missing.`
    if (row.hash !== hashOf(hash, row.seq, row)) {
      if (!row.object?.match(/\[erased\]|erased-/)) return changed(row.seq)
      redacted.set(row.seq, hashOf('', row.seq, row))
    } else if (row.action === REDACTION && row.actor === 'server') {
      const [seq, now] = (row.object ?? '').split(':')
      if (redacted.get(Number(seq)) === now) redacted.delete(Number(seq))
    }
    seq = row.seq
    hash = row.hash
  }
  return undefined
}

/** The first redacted row that no later row vouches for. */
export function unvouched(redacted: RedactedRows): string | undefined {
  const [seq] = redacted.keys()
  return seq === undefined ? undefined : changed(seq)
}

const changed = (seq: number) => `Row ${seq} was changed, or stands in the place of another row.`

function hashOf(before: string, seq: number, e: AuditEntry): string {
  const values = [
    before,
    seq,
    e.at,
    e.actor,
    e.actorId,
    e.keyId,
    e.accountId,
    e.seatId,
    e.address,
    e.forwardedFor,
    e.action,
    e.object,
    e.fields,
    e.status,
  ]
  return hash('sha256', JSON.stringify(values), 'hex')
}
