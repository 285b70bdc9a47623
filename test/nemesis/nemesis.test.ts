import { expect, it } from 'vitest'
import { ENGINES } from '../support/world.js'
import { torment } from './nemesis.js'

/** `SEED=7 MINUTES=10 npm run nemesis` runs longer, `FAULTS='paused,black hole'` has only these faults. */
const SEED = Number(process.env.SEED ?? 1)
/** Default: longer than five minutes, after which a webhook that failed twice is posted again. */
const PEACE_MS = Number(process.env.PEACE_S ?? 600) * 1000
const FAULTS = process.env.FAULTS?.split(',')
const MINUTES = Number(process.env.MINUTES ?? 0.25)

it.skipIf(!ENGINES.includes('postgres'))(
  'three processes keep every promise while processes, databases, networks and carriers come and go',
  async () => {
    const say = (line: string) => void (process.env.MINUTES && process.stdout.write(`${line}\n`))
    const { broken, ...report } = await torment(SEED, MINUTES * 60_000, say, {
      only: FAULTS,
      peaceMs: PEACE_MS,
    })
    say(JSON.stringify({ seed: SEED, minutes: MINUTES, ...report }, null, 2))
    expect(broken, `again: SEED=${SEED} MINUTES=${MINUTES} npm run nemesis`).toEqual([])
    expect(report.sends).toBeGreaterThan(20)
  },
  7_200_000,
)
