import { expect, it } from 'vitest'
import { whyNoPatroni } from '../support/patroni/installed.js'
import { ENGINES } from '../support/world.js'
import { torment } from './nemesis.js'
import { startPair } from './pair.js'
import { startPatroni } from './patroni.js'

/**
 * `SEED=7 MINUTES=10 npm run nemesis` runs longer, `FAULTS='paused,black hole'` has only these faults, and with
 * `CLUSTER=patroni` Patroni manages the database.
 */
const SEED = Number(process.env.SEED ?? 1)
/** Default: longer than five minutes, after which a webhook that failed twice is posted again. */
const PEACE_MS = Number(process.env.PEACE_S ?? 600) * 1000
const FAULTS = process.env.FAULTS?.split(',')
const MINUTES = Number(process.env.MINUTES ?? 0.25)
const CLUSTER = process.env.CLUSTER ?? 'pair'

if (!['pair', 'patroni'].includes(CLUSTER))
  throw new Error(`CLUSTER: ${CLUSTER} is neither pair nor patroni.`)
const reason = CLUSTER === 'patroni' ? whyNoPatroni() : undefined
if (reason) console.warn(`${reason}: the test with CLUSTER=patroni is skipped`)

it.skipIf(!ENGINES.includes('postgres') || reason)(
  'three processes keep every promise while processes, databases, networks and carriers come and go',
  async () => {
    const say = (line: string) => void (process.env.MINUTES && process.stdout.write(`${line}\n`))
    const { broken, ...report } = await torment(SEED, MINUTES * 60_000, say, {
      only: FAULTS,
      peaceMs: PEACE_MS,
      startServers: CLUSTER === 'patroni' ? (chance) => startPatroni(chance, say) : startPair,
    })
    say(JSON.stringify({ seed: SEED, minutes: MINUTES, cluster: CLUSTER, ...report }, null, 2))
    const again = `CLUSTER=${CLUSTER} SEED=${SEED} MINUTES=${MINUTES} npm run nemesis`
    expect(broken, `again: ${again}`).toEqual([])
    expect(report.sends).toBeGreaterThan(20)
  },
  7_200_000,
)
