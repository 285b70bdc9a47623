import { chmodSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { loadSqlite } from '../../storage/engine/sqlite-statements.js'
import { Refusal } from './refusal.js'

/** A send that is about to happen. */
export interface Planned {
  /** The same for calls that say the same to the same people. */
  fingerprint: string
  /** What they had written last: whoever answers something new means a new message. */
  moment: string
  /** Where the log ended before. */
  bookmark: number | null
  /** The key that the caller gave, or a new one. */
  key: string
  isKeyGiven: boolean
  recipients: readonly string[]
}

export interface Reserved {
  key: string
  bookmark: number | null
  /** Null for a repeat: the first one was counted. */
  id: number | null
}

export interface Caps {
  perHour: number
  perRecipient: number
}

/** What this server has sent lately, on disk: a restart gives no new allowance, nor does a second process. */
export interface Ledger {
  /** Counts a send in before it happens, or refuses it. A repeat is not counted; it gets the key of the first. */
  reserve(send: Planned, now: number): Reserved
  /** The caller knows of it. Until then an equal call is a repeat, even when they have answered already. */
  told(reserved: Reserved): void
  /** Nothing was sent after all. */
  giveBack(reserved: Reserved): void
  close(): void
}

const HOUR_MS = 3_600_000
/** Calls that are equal within this time, with nothing from the other side between them, are one call. */
export const SAME_CALL_MS = 10 * 60_000

export async function openLedger(file: string, caps: Caps): Promise<Ledger> {
  const open = await loadSqlite()
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const db = open(file)
  chmodSync(file, 0o600)
  db.exec('pragma busy_timeout = 5000; pragma journal_mode = delete; pragma synchronous = full')
  db.exec(`
    create table if not exists sends (id integer primary key, key text not null, fingerprint text not null, moment text not null, bookmark integer, told integer not null, at integer not null);
    create table if not exists recipients (send_id integer not null, number text not null, at integer not null, primary key (send_id, number)) without rowid;
    create index if not exists sends_at on sends (at);
    create index if not exists sends_fingerprint on sends (fingerprint, at);
    create index if not exists recipients_at on recipients (at);
    create index if not exists recipients_number on recipients (number, at)`)
  const earlier = db.prepare(
    'select key, bookmark from sends where fingerprint = ? and at > ? and (told = 0 or moment = ?) order by at desc limit 1',
  )
  const countAll = db.prepare('select count(*) as n from recipients where at > ?')
  const countOne = db.prepare('select count(*) as n from recipients where number = ? and at > ?')
  const roomAt = db.prepare('select at from recipients where at > ? order by at limit 1 offset ?')
  const roomForAt = db.prepare(
    'select at from recipients where number = ? and at > ? order by at limit 1 offset ?',
  )
  const addSend = db.prepare(
    'insert into sends (key, fingerprint, moment, bookmark, told, at) values (?, ?, ?, ?, 0, ?) returning id',
  )
  const addRecipient = db.prepare('insert into recipients (send_id, number, at) values (?, ?, ?)')
  const count = (row: unknown) => (row as { n: number }).n

  function check(recipients: readonly string[], now: number): void {
    const since = now - HOUR_MS
    const secondsUntil = (row: unknown) => {
      const at = (row as { at: number } | undefined)?.at
      return at === undefined ? 3600 : Math.max(1, Math.ceil((at + HOUR_MS - now) / 1000))
    }
    for (const number of recipients) {
      const sent = count(countOne.get(number, since))
      if (sent < caps.perRecipient) continue
      const wait = secondsUntil(roomForAt.get(number, since, sent - caps.perRecipient))
      throw capped(`${number} got ${sent} messages within the last hour`, '--max-per-recipient', wait)
    }
    const sent = count(countAll.get(since))
    const over = sent + recipients.length - caps.perHour
    if (over <= 0) return
    const wait = secondsUntil(roomAt.get(since, Math.min(over, sent) - 1))
    const words =
      recipients.length > 1 ? `, and this one goes to ${recipients.length} people, each of whom counts` : ''
    throw capped(`${sent} messages were sent within the last hour${words}`, '--max-per-hour', wait)
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
    reserve: (send, now) =>
      together(() => {
        const since = now - (send.isKeyGiven ? HOUR_MS : SAME_CALL_MS)
        const first = earlier.get(send.fingerprint, since, send.moment) as Omit<Reserved, 'id'> | undefined
        if (first) return { key: first.key, bookmark: first.bookmark, id: null }
        db.prepare('delete from recipients where at <= ?').run(now - HOUR_MS)
        db.prepare('delete from sends where at <= ?').run(now - HOUR_MS)
        check(send.recipients, now)
        const { key, fingerprint, moment, bookmark } = send
        const { id } = addSend.get(key, fingerprint, moment, bookmark, now) as { id: number }
        for (const number of send.recipients) addRecipient.run(id, number, now)
        return { key, bookmark, id }
      }),
    told({ key }) {
      together(() => db.prepare('update sends set told = 1 where key = ?').run(key))
    },
    giveBack({ id }) {
      if (id === null) return
      together(() => {
        db.prepare('delete from recipients where send_id = ?').run(id)
        db.prepare('delete from sends where id = ?').run(id)
      })
    },
    close: () => db.close(),
  }
}

function capped(words: string, option: string, seconds: number): Refusal {
  return new Refusal(
    'rate_limited',
    `Not sent: ${words}, and the cap of this server (${option}) allows no more now.`,
    `Do not work around it. Wait ${seconds} seconds, or ask the user to raise ${option}.`,
    { retry_after_seconds: seconds },
  )
}
