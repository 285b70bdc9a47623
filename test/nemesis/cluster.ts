import { chmodSync, rmSync } from 'node:fs'
import type { Chance } from '../simulation/chance.js'
import { HAS_PGBOUNCER, startPgbouncer } from '../support/database-faults/pgbouncer.js'
import { startTcpProxy, type TcpProxy } from '../support/database-faults/tcp-proxy.js'
import { makeDirectory } from '../support/directory.js'
import { type PostgresServer, startPair } from '../support/postgres.js'
import { onServer } from '../support/template.js'

/** PostgreSQL with a synchronous standby, the ways of the processes to it, and what befalls both. */
export interface Cluster {
  /** Both servers, without a proxy. */
  url: string
  /** The primary alone. */
  primary(): string
  /** Settings of the process in that place, which has its own way to the database. */
  settingsOf(place: number): Record<string, string>
  /** By name. Each resolves when the database can be written to again. */
  faults: Record<string, () => Promise<void>>
  /** Makes what `disk full` needs, after the migrations. */
  prepareDisk(): Promise<void>
  stop(): Promise<void>
}

/** How long a fault of the network or the disk lasts at most. */
const FAULT_MS = 5000
const PLACES = [0, 1, 2, 3]
/** This process reaches the database through pgbouncer in transaction mode. */
const POOLED_PLACE = 2

/** While the row says so, every insert and update fails as on a full disk. Leases, too. */
const DISK = `
  create table nemesis_disk (is_full boolean not null);
  insert into nemesis_disk values (false);
  create function nemesis_disk() returns trigger language plpgsql as $$ begin
    if (select is_full from nemesis_disk) then
      raise exception 'could not extend file' using errcode = '53100';
    end if;
    return null;
  end $$;
  do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = 'public' and tablename <> 'nemesis_disk' loop
      execute format('create trigger nemesis_disk before insert or update on %I execute function nemesis_disk()', name);
    end loop;
  end $$`

export async function startCluster(chance: Chance): Promise<Cluster> {
  const directory = makeDirectory('trunkline-nemesis-')
  chmodSync(directory, 0o755) // as root, the servers run as another user
  const servers = await startPair(directory, true)
  let [primary, standby] = servers
  const ways = await Promise.all(PLACES.map(() => Promise.all(servers.map(({ url }) => startTcpProxy(url)))))
  /** pgbouncer knows one host, like the address that a cluster manager moves. */
  const address = await startTcpProxy(primary.url)
  const bouncer = HAS_PGBOUNCER ? await startPgbouncer(address.url) : undefined
  if (!bouncer) console.log('Every process connects directly: pgbouncer is not installed.')

  /** Until the standby has what the primary has, the promotion of the standby could lose what was seen. */
  const untilSynchronous = () =>
    until(async () => {
      const [rows] = await onServer(
        primary.url,
        "select 1 from pg_stat_replication where sync_state = 'sync' and replay_lsn >= pg_current_wal_flush_lsn()",
      )
      return rows?.length === 1
    })
  const untilWritable = () =>
    until(async () => {
      await onServer(primary.url, 'create table if not exists nemesis_probe (); drop table nemesis_probe')
      return true
    })
  const lasting = () => pause(500 + chance.below(FAULT_MS))
  const faults: Cluster['faults'] = {
    async 'sessions ended'() {
      await onServer(
        primary.url,
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
    },
    async 'database killed'() {
      primary.crash('SIGKILL')
      await pause(chance.below(2000))
      await primary.restart()
      await untilWritable()
    },
    async 'standby promoted'() {
      await untilSynchronous()
      const lost = primary
      lost.crash('SIGKILL')
      await pause(chance.below(2000))
      ;[primary, standby] = [standby, lost]
      await onServer(primary.url, 'select pg_promote()')
      address.lead(primary.url)
      await lost.follow(primary)
      await untilWritable()
    },
    async 'standby gone'() {
      standby.crash('SIGKILL')
      await lasting()
      await standby.restart()
      await untilWritable()
    },
    async 'black hole'() {
      // One process, or all of them.
      const cut = chance.happens(0.5) ? [chance.pick(PLACES)] : PLACES
      const proxies: TcpProxy[] = cut.flatMap((place) => ways[place]!)
      if (cut.includes(POOLED_PLACE)) proxies.push(address)
      const which = chance.pick(['open', 'all'] as const)
      for (const proxy of proxies) proxy.swallow(which)
      await lasting()
      for (const proxy of proxies) proxy.heal()
    },
    async 'disk full'() {
      await onServer(primary.url, 'update nemesis_disk set is_full = true')
      await lasting()
      await onServer(primary.url, 'update nemesis_disk set is_full = false')
    },
  }
  const urlOf = (parts: readonly { url: string }[]) => {
    const hosts = parts.map(({ url }) => new URL(url).host).join(',')
    return `postgres://trunkline:trunkline@${hosts}/postgres?target_session_attrs=read-write`
  }
  return {
    url: urlOf(servers),
    primary: () => primary.url,
    settingsOf(place): Record<string, string> {
      const direct = urlOf(ways[place % PLACES.length]!)
      if (!bouncer || place !== POOLED_PLACE) return { DATABASE_URL: direct }
      return { DATABASE_URL: bouncer.url, TRUNKLINE_DATABASE_DIRECT_URL: direct }
    },
    faults,
    prepareDisk: async () => void (await onServer(primary.url, DISK)),
    async stop() {
      await bouncer?.stop()
      await Promise.all([address, ...ways.flat()].map((proxy) => proxy.close()))
      // The primary last: the standby waits for it, and ends at once without it.
      for (const server of [standby, primary] as PostgresServer[]) server.crash()
      await Promise.all(servers.map((server) => server.stop()))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A server that just starts, or is just promoted, refuses statements. */
async function until(ask: () => Promise<boolean>): Promise<void> {
  let last: unknown
  for (let tries = 0; tries < 600; tries++) {
    try {
      if (await ask()) return
    } catch (error) {
      last = error
    }
    await pause(100)
  }
  throw new Error('The database did not recover', { cause: last })
}
