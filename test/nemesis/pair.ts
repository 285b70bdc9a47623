import { chmodSync, rmSync } from 'node:fs'
import type { Chance } from '../simulation/chance.js'
import { makeDirectory } from '../support/directory.js'
import { type PostgresServer, startPair as startServers } from '../support/postgres.js'
import { onServer } from '../support/template.js'
import type { Servers } from './cluster.js'
import { lasting, pause, until } from './waiting.js'

/** A server and its synchronous standby, which the test itself promotes. */
export async function startPair(chance: Chance): Promise<Servers> {
  const directory = makeDirectory('trunkline-nemesis-')
  chmodSync(directory, 0o755) // as root, the servers run as another user
  const servers = await startServers(directory, true)
  let [primary, standby] = servers
  let follow = (_url: string) => {}

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
  return {
    urls: servers.map(({ url }) => url),
    primary: async () => primary.url,
    onMove(call) {
      follow = call
    },
    faults: {
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
        follow(primary.url)
        await lost.follow(primary)
        await untilWritable()
      },
      async 'standby gone'() {
        standby.crash('SIGKILL')
        await lasting(chance)
        await standby.restart()
        await untilWritable()
      },
    },
    async stop() {
      // The primary last: the standby waits for it, and ends at once without it.
      for (const server of [standby, primary] as PostgresServer[]) server.crash()
      await Promise.all(servers.map((server) => server.stop()))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
