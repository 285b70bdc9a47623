import type { Chance } from '../simulation/chance.js'
import type { Member } from '../support/patroni/member.js'
import { startPatroni as startMembers } from '../support/patroni/patroni.js'
import type { Servers } from './cluster.js'
import { pause } from './waiting.js'

/** How often the address that pgbouncer uses is compared with the leader. */
const FOLLOW_MS = 250
/** How long etcd is gone at most. After 3 s the leader steps down, because it cannot know whether it still leads. */
const ETCD_MS = 12_000
/**
 * Patroni up to 3.0.2 that is paused inside its cycle takes the lead back when it wakes, with the loss of all commits
 * since (patroni/patroni#2689). So the machine is paused between two cycles.
 */
const CYCLE_END = /the leader with the lock/
const CYCLE_MS = 5000
/** How long a lost or paused machine stays away at most after another one leads. */
const AWAY_MS = 6000

/** Two servers that Patroni manages: it notices faults, promotes the standby and repairs the files of an old leader. */
export async function startPatroni(chance: Chance, say: (line: string) => void): Promise<Servers> {
  const cluster = await startMembers()
  let isOver = false
  let following = Promise.resolve()
  /** The machine that was struck last comes back in the background, while the service works with the other one. */
  let returning = Promise.resolve()

  async function follow(call: (url: string) => void) {
    for (let last = ''; !isOver; await pause(FOLLOW_MS)) {
      const leader = await cluster.findLeader()
      if (leader && leader.url !== last) call(leader.url)
      if (leader) last = leader.url
    }
  }
  /** Strikes a leader that has a synchronous standby; resolves when a leader can be written to. */
  async function strike(
    fault: string,
    hit: (leader: Member) => Promise<Member>,
    mend = async (_leader: Member) => {},
  ) {
    await returning
    const leader = await cluster.untilWhole()
    const struckAt = performance.now()
    const next = await hit(leader)
    say(`${fault}: ${next.name} after ${leader.name} in ${Math.round(performance.now() - struckAt)} ms`)
    returning = pause(chance.below(AWAY_MS)).then(() => mend(leader))
  }
  return {
    urls: cluster.members.map(({ url }) => url),
    primary: async () => (await cluster.untilLed()).url,
    onMove(call) {
      following = follow(call)
    },
    faults: {
      switchover: () => strike('switchover', () => cluster.switchOver()),
      'leader server killed': () =>
        strike('leader server killed', async (leader) => {
          await leader.killServer()
          return cluster.untilLed()
        }),
      'leader machine lost': () =>
        strike(
          'leader machine lost',
          async (leader) => {
            await leader.kill()
            return cluster.untilLed(leader)
          },
          async (leader) => leader.start(),
        ),
      'leader machine paused': () =>
        strike(
          'leader machine paused',
          async (leader) => {
            await Promise.race([leader.untilSaid(CYCLE_END), pause(CYCLE_MS)])
            leader.pause()
            return cluster.untilLed(leader)
          },
          async (leader) => leader.wake(),
        ),
      'etcd gone': () =>
        strike('etcd gone', async () => {
          await cluster.etcd.kill()
          await pause(chance.below(ETCD_MS))
          await cluster.etcd.start()
          return cluster.untilLed()
        }),
    },
    async stop() {
      isOver = true
      await returning
      await following
      await cluster.stop()
    },
  }
}
