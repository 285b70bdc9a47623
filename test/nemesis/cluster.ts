import type { Chance } from '../simulation/chance.js'
import { HAS_PGBOUNCER, startPgbouncer } from '../support/database-faults/pgbouncer.js'
import { startTcpProxy, type TcpProxy } from '../support/database-faults/tcp-proxy.js'
import { onServer } from '../support/template.js'
import { lasting } from './waiting.js'

/** PostgreSQL servers of which one can be written to, and what befalls them. */
export interface Servers {
  urls: readonly string[]
  /** The URL of the primary, once there is one. */
  primary(): Promise<string>
  /** Calls back with the URL of another primary, soon after there is one. */
  onMove(follow: (url: string) => void): void
  /** By name. Each resolves when the database can be written to again. */
  faults: Record<string, () => Promise<void>>
  stop(): Promise<void>
}

/** PostgreSQL servers, the ways of the processes to them, and what befalls both. */
export interface Cluster {
  /** All servers, without a proxy. */
  url: string
  /** Settings of the process in that place, which has its own way to the database. */
  settingsOf(place: number): Record<string, string>
  /** By name. Each resolves when the database can be written to again. */
  faults: Record<string, () => Promise<void>>
  /** Makes what `disk full` needs, after the migrations. */
  prepareDisk(): Promise<void>
  stop(): Promise<void>
}

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

export async function startCluster(
  startServers: (chance: Chance) => Promise<Servers>,
  chance: Chance,
): Promise<Cluster> {
  const servers = await startServers(chance)
  const ways = await Promise.all(PLACES.map(() => Promise.all(servers.urls.map(startTcpProxy))))
  /** pgbouncer knows one host, like the address that a cluster manager moves. */
  const address = await startTcpProxy(await servers.primary())
  servers.onMove(address.lead)
  const bouncer = HAS_PGBOUNCER ? await startPgbouncer(address.url) : undefined
  if (!bouncer) console.log('Every process connects directly: pgbouncer is not installed.')

  const onPrimary = async (sql: string) => void (await onServer(await servers.primary(), sql))
  const faults: Cluster['faults'] = {
    'sessions ended': () =>
      onPrimary(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      ),
    ...servers.faults,
    async 'black hole'() {
      // One process, or all of them.
      const cut = chance.happens(0.5) ? [chance.pick(PLACES)] : PLACES
      const proxies: TcpProxy[] = cut.flatMap((place) => ways[place]!)
      if (cut.includes(POOLED_PLACE)) proxies.push(address)
      const which = chance.pick(['open', 'all'] as const)
      for (const proxy of proxies) proxy.swallow(which)
      await lasting(chance)
      for (const proxy of proxies) proxy.heal()
    },
    async 'disk full'() {
      await onPrimary('update nemesis_disk set is_full = true')
      await lasting(chance)
      await onPrimary('update nemesis_disk set is_full = false')
    },
  }
  const urlOf = (urls: readonly string[]) => {
    const hosts = urls.map((url) => new URL(url).host).join(',')
    return `postgres://trunkline:trunkline@${hosts}/postgres?target_session_attrs=read-write`
  }
  return {
    url: urlOf(servers.urls),
    settingsOf(place): Record<string, string> {
      const direct = urlOf(ways[place % PLACES.length]!.map(({ url }) => url))
      if (!bouncer || place !== POOLED_PLACE) return { DATABASE_URL: direct }
      return { DATABASE_URL: bouncer.url, TRUNKLINE_DATABASE_DIRECT_URL: direct }
    },
    faults,
    prepareDisk: () => onPrimary(DISK),
    async stop() {
      await bouncer?.stop()
      await Promise.all([address, ...ways.flat()].map((proxy) => proxy.close()))
      await servers.stop()
    },
  }
}
