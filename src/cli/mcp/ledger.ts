import { dirname } from 'node:path'
import { makePrivateDatabase, makePrivateFolder } from '../../base/private-files.js'
import { loadSqlite } from '../../storage/engine/sqlite-statements.js'
import { Refusal } from './refusal.js'

export interface PlannedSend {
  /** Equal for calls with the same text to the same people. */
  fingerprint: string
  /** The last message from the other side: an answer to a newer one is a new message. */
  moment: string
  /** Sequence number of the newest event before the send. */
  bookmark: number | null
  /** The caller's idempotency key, or a new one. */
  key: string
  isKeyGiven: boolean
  recipients: readonly string[]
}

export interface Reservation {
  key: string
  bookmark: number | null
  /** Null for a repeat, which does not count. */
  id: number | null
}

export interface Caps {
  perHour: number
  perRecipient: number
}

/** The sends of the last hour, on disk, so that the caps hold across restarts and processes. */
export interface Ledger {
  /** Counts a send before it happens, or refuses it. A repeat is not counted and gets the key of the first call. */
  reserve(send: PlannedSend, now: number): Reservation
  /** Records that the caller got the answer. Until then an equal call is a repeat, even after a newer message. */
  confirm(reservation: Reservation): void
  /** Removes a send that did not happen. */
  giveBack(reservation: Reservation): void
  close(): void
}

const HOUR_MS = 3_600_000
/** Equal calls within this time, with no message from the other side between them, are repeats. */
export const SAME_CALL_MS = 10 * 60_000

export async function openLedger(file: string, caps: Caps): Promise<Ledger> {
  const open = await loadSqlite()
  makePrivateFolder(dirname(file))
  makePrivateDatabase(file)
  const db = open(file)
  db.exec('pragma busy_timeout = 5000; pragma journal_mode = delete; pragma synchronous = full')
  db.exec(`
    create table if not exists sends (id integer primary key, key text not null, fingerprint text not null, moment text not null, bookmark integer, told integer not null, at integer not null);
    create table if not exists recipients (send_id integer not null, number text not null, at integer not null, primary key (send_id, number)) without rowid;
    create index if not exists sends_at on sends (at);
    create index if not exists sends_fingerprint on sends (fingerprint, at);
    create index if not exists recipients_at on recipients (at);
    create index if not exists recipients_number on recipients (number, at)`)
  const one = <T>(sql: string, ...values: (string | number | null)[]) => db.prepare(sql).get(...values) as T
  const run = (sql: string, ...values: (string | number)[]) => void db.prepare(sql).run(...values)

  /** Refuses a send for which `limit` leaves no room. `where` selects the recipients that count. */
  function check(
    [option, limit]: [option: string, limit: number],
    more: number,
    where: string,
    values: (string | number)[],
    now: number,
    describe: (sent: number) => string,
  ): void {
    const sent = one<{ n: number }>(`select count(*) as n from recipients where ${where}`, ...values).n
    const over = sent + more - limit
    if (over <= 0) return
    // There is room again when the oldest `over` recipients are an hour old.
    const oldest = `select at from recipients where ${where} order by at limit 1 offset ?`
    const at = one<{ at: number } | undefined>(oldest, ...values, Math.min(over, sent) - 1)?.at
    const seconds = at === undefined ? 3600 : Math.max(1, Math.ceil((at + HOUR_MS - now) / 1000))
    throw new Refusal(
      'rate_limited',
      `Not sent: ${describe(sent)}, and the cap of this server (${option}) is reached.`,
      `Do not work around it. Wait ${seconds} seconds, or ask the user to raise ${option}.`,
      { retry_after_seconds: seconds },
    )
  }

  function checkCaps(recipients: readonly string[], now: number): void {
    const since = now - HOUR_MS
    for (const number of recipients)
      check(
        ['--max-per-recipient', caps.perRecipient],
        1,
        'number = ? and at > ?',
        [number, since],
        now,
        (sent) => `${number} got ${sent} messages within the last hour`,
      )
    const people = recipients.length
    const group = people > 1 ? `, and this one counts for each of its ${people} people` : ''
    check(
      ['--max-per-hour', caps.perHour],
      people,
      'at > ?',
      [since],
      now,
      (sent) => `${sent} messages were sent within the last hour${group}`,
    )
  }

  function together<T>(work: () => T): T {
    db.exec('begin immediate')
    try {
      const result = work()
      db.exec('commit')
      return result
    } catch (error) {
      db.exec('rollback')
      throw error
    }
  }

  return {
    reserve: ({ fingerprint, moment, bookmark, key, isKeyGiven, recipients }, now) =>
      together(() => {
        const first = one<Omit<Reservation, 'id'> | undefined>(
          'select key, bookmark from sends where fingerprint = ? and at > ? and (told = 0 or moment = ?) order by at desc limit 1',
          ...[fingerprint, now - (isKeyGiven ? HOUR_MS : SAME_CALL_MS), moment],
        )
        if (first) return { key: first.key, bookmark: first.bookmark, id: null }
        for (const table of ['recipients', 'sends']) run(`delete from ${table} where at <= ?`, now - HOUR_MS)
        checkCaps(recipients, now)
        const { id } = one<{ id: number }>(
          'insert into sends (key, fingerprint, moment, bookmark, told, at) values (?, ?, ?, ?, 0, ?) returning id',
          ...[key, fingerprint, moment, bookmark, now],
        )
        for (const number of recipients)
          run('insert into recipients (send_id, number, at) values (?, ?, ?)', id, number, now)
        return { key, bookmark, id }
      }),
    confirm: ({ key }) => together(() => run('update sends set told = 1 where key = ?', key)),
    giveBack({ id }) {
      if (id === null) return
      together(() => {
        run('delete from recipients where send_id = ?', id)
        run('delete from sends where id = ?', id)
      })
    },
    close: () => db.close(),
  }
}
