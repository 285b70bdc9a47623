import type { Incarnation } from '../../core/events/incarnation.js'
import type { Sql } from './db.js'

/** Messages up to this id wait for the operator, if they waited when the incarnation began. */
export const HELD_THROUGH = '(select coalesce(max(held_through), 0) from incarnations)'
/** Messages that were scheduled for later than this cannot have been sent before. */
export const HELD_SINCE = '(select coalesce(max(begun_at), 0) from incarnations where held_through > 0)'

export const REASONS = {
  first: 'first start',
  server: 'the database moved to another server',
  restored: 'the database was restored',
  promoted: 'a standby was promoted, or the database was restored to a point in time',
  copied: 'the data folder or the database file was copied',
} as const

interface Beginning {
  n: string
  id: string
  identity: string
  reason: string
  /** The service's time. */
  now: string
  /** The machine's time, for event numbers: only a clock that was set back could repeat them. */
  wall: string
  /** 1 if commits may be missing. */
  isLossy: string
}

/**
 * The statements that begin another incarnation; the values are SQL expressions. Leases get another epoch, which
 * stops every process that has messages of the earlier incarnation in memory.
 */
function beginning(v: Beginning): string[] {
  return [
    `insert into incarnations (n, id, identity, reason, begun_at, event_base, held_through, is_synchronous)
     select ${v.n}, ${v.id}, ${v.identity}, ${v.reason}, ${v.now},
       (select case when max(last_seq) > ${v.wall} then max(last_seq) else ${v.wall} end from event_counters),
       case when ${v.isLossy} = 0 then 0 else (select coalesce(max(id), 0) from (
         select max(+id) as id from messages where next_action_at is not null and due_at is null
         union all
         select max(+id) from messages where next_action_at is not null and due_at <= ${v.now}) waiting) end, 0`,
    'update event_counters set last_seq = (select max(event_base) from incarnations)',
    'update line_leases set epoch = epoch + 1',
  ]
}

export function listIncarnations(sql: Pick<Sql, 'all'>): Promise<Incarnation[]> {
  return sql.all(LIST)
}

export const LIST =
  'select n, id, reason, begun_at as "begunAt", event_base as "eventBase" from incarnations order by n'

/**
 * Begins another incarnation of a SQLite database. One without events has no past that could repeat itself, and
 * keeps its incarnation.
 */
export async function beginIncarnation(
  sql: Sql,
  { id, reason, now, wall }: { id: string; reason: string; now: number; wall: number },
): Promise<void> {
  const last = await sql.one<{ n: number; events: number }>(
    'select (select max(n) from incarnations) as n, coalesce(max(last_seq), 0) as events from event_counters',
  )
  if (!last?.n) {
    const first = `insert into incarnations (n, id, identity, reason, begun_at, event_base, held_through, is_synchronous)
      values (1, '', '', $1, $2, 0, 0, 0)`
    await sql.run(first, [REASONS.first, now])
    return
  }
  if (last.events === 0) return
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
  const statements = beginning({
    n: String(last.n + 1),
    id: quoted(id),
    identity: "''",
    reason: quoted(reason),
    now: String(now),
    wall: String(wall),
    isLossy: '1',
  })
  for (const statement of statements) await sql.run(statement)
}

const NOW = '(extract(epoch from clock_timestamp()) * 1000)::bigint'

/** 1 if a commit waits for a standby. */
const SYNCHRONOUS = `(current_setting('synchronous_standby_names') <> ''
  and current_setting('synchronous_commit') in ('on', 'remote_apply'))::int`

/**
 * For PostgreSQL, in one statement on every new connection: begins another incarnation if this is not the server,
 * timeline or table that the current one knows. A standby becomes the primary with another timeline; a restored dump
 * has other object ids. Without a synchronous standby a promotion may have lost commits.
 */
export function noticeIncarnation(now?: number): string {
  const body = beginning({
    n: 'last.n + 1',
    id: `substr(md5(random()::text || clock_timestamp()::text), 1, 8)`,
    identity: 'here',
    reason: 'why',
    now: now === undefined ? NOW : String(now),
    wall: NOW,
    isLossy: 'lossy',
  })
  return `do $$
    declare
      last record;
      here text;
      why text;
      lossy bigint := 1;
      synchronous bigint := ${SYNCHRONOUS};
    begin
      if pg_is_in_recovery() then return; end if;
      here := concat_ws('/', (select system_identifier from pg_control_system()),
        (select oid from pg_database where datname = current_database()), 'incarnations'::regclass::oid,
        substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8));
      select * into last from incarnations order by n desc limit 1;
      if found and last.identity = here and last.is_synchronous = synchronous then return; end if;
      perform pg_advisory_xact_lock(hashtext('trunkline:incarnation'));
      select * into last from incarnations order by n desc limit 1;
      if not found then
        insert into incarnations (n, id, identity, reason, begun_at, event_base, held_through, is_synchronous)
          values (1, '', here, '${REASONS.first}', ${now === undefined ? NOW : now}, 0, 0, synchronous);
        return;
      end if;
      if last.identity <> here and exists (select from event_counters where last_seq > 0) then
        if split_part(last.identity, '/', 1) <> split_part(here, '/', 1) then why := '${REASONS.server}';
        elsif split_part(last.identity, '/', 4) = split_part(here, '/', 4) then why := '${REASONS.restored}';
        else
          why := '${REASONS.promoted}';
          if last.is_synchronous = 1 then lossy := 0; end if;
        end if;
        ${body.join(';\n        ')};
        update webhook_shards set epoch = epoch + 1;
      end if;
      update incarnations set identity = here, is_synchronous = synchronous
        where n = (select max(n) from incarnations) and (identity <> here or is_synchronous <> synchronous);
    end $$`
}

/**
 * Notes whether commits wait for a standby. Patroni changes that whenever a standby comes or goes, and sessions stay.
 * Where the note that they wait has arrived, every earlier commit has.
 */
export async function noteSynchronous(sql: Sql): Promise<void> {
  if (sql.engine === 'sqlite') return
  await sql.run(
    `update incarnations set is_synchronous = ${SYNCHRONOUS}
     where n = (select max(n) from incarnations) and is_synchronous <> ${SYNCHRONOUS}`,
  )
}

/** Standby servers that may lack the last commits. */
export async function countAsynchronousStandbys(sql: Sql): Promise<number> {
  if (sql.engine === 'sqlite') return 0
  const row = await sql.one<{ n: number }>(
    "select count(*) as n from pg_stat_replication where current_setting('synchronous_standby_names') = ''",
  )
  return row?.n ?? 0
}
