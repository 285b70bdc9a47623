import { chmodSync, rmSync } from 'node:fs'
import { makeDirectory } from '../directory.js'
import { onServer } from '../template.js'
import { type Etcd, startEtcd } from './etcd.js'
import { createMember, type Member } from './member.js'

/** Two PostgreSQL servers on two machines. Patroni decides by etcd which of them is the primary. */
export interface PatroniCluster {
  members: readonly Member[]
  etcd: Etcd
  /** Both servers, as DATABASE_URL names them. */
  url: string
  /** The member that leads at the moment, if there is one. */
  findLeader(): Promise<Member | undefined>
  /** Resolves with the leader, once it can be written to. With `not`, another one than this. */
  untilLed(not?: Member): Promise<Member>
  /** Resolves with the leader, once the other member is its synchronous standby: before that, no failover is possible. */
  untilWhole(): Promise<Member>
  /** Makes the standby the leader, as an operator does. */
  switchOver(): Promise<Member>
  stop(): Promise<void>
}

const LIMIT_MS = 120_000

export async function startPatroni(): Promise<PatroniCluster> {
  const directory = makeDirectory('trunkline-patroni-')
  chmodSync(directory, 0o755) // as root, the servers run as another user
  const etcd = await startEtcd(directory)
  // Not 'first': Patroni does not quote names, and PostgreSQL reads this one as a keyword.
  const members = [
    await createMember(directory, 'north', etcd.address),
    await createMember(directory, 'south', etcd.address),
  ]
  for (const member of members) member.start()

  /** Tries until there is an answer. */
  async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
    const end = performance.now() + LIMIT_MS
    let last: unknown
    for (;;) {
      try {
        const found = await ask()
        if (found !== undefined) return found
      } catch (error) {
        last = error
      }
      if (performance.now() > end)
        throw new Error([`No ${what}: ${last}`, ...members.map(({ output }) => output)].join('\n\n'))
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const findLeader = async (not?: Member): Promise<Member | undefined> => {
    for (const member of members) if (member !== not && (await isIn(member, 'primary'))) return member
    return undefined
  }
  const cluster: PatroniCluster = {
    members,
    etcd,
    findLeader,
    url: `postgres://trunkline:trunkline@${members.map(({ url }) => new URL(url).host).join(',')}/postgres?target_session_attrs=read-write`,
    untilLed: (not) =>
      until('leader', async () => {
        const leader = await findLeader(not)
        if (leader) await onServer(leader.url, 'create table if not exists probe (); drop table probe')
        return leader
      }),
    untilWhole: () =>
      until('synchronous standby', async () => {
        const leader = await findLeader()
        const standby = members.find((member) => member !== leader)!
        return leader && (await isIn(standby, 'synchronous')) ? leader : undefined
      }),
    async switchOver() {
      const before = await cluster.untilWhole()
      const candidate = members.find((member) => member !== before)!
      const body = JSON.stringify({ leader: before.name, candidate: candidate.name })
      const asked = fetch(`${before.api}/switchover`, { method: 'POST', body })
      const refused = asked.then(async (answer) => {
        if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
        return cluster.untilLed(before)
      })
      return Promise.race([refused, cluster.untilLed(before)])
    },
    async stop() {
      await Promise.all(members.map((member) => member.stop()))
      await etcd.kill()
      rmSync(directory, { recursive: true, force: true })
    },
  }
  try {
    await cluster.untilWhole()
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

/** Whether Patroni says that its server is in that role. */
async function isIn({ api }: Member, role: 'primary' | 'synchronous'): Promise<boolean> {
  try {
    return (await fetch(`${api}/${role}`, { signal: AbortSignal.timeout(1000) })).status === 200
  } catch {
    return false
  }
}
