import { expect, it } from 'vitest'
import { ENGINES } from '../support/world.js'
import { torment } from './nemesis.js'

/** `SEED=7 MINUTES=10 npm run nemesis` runs longer. */
const SEED = Number(process.env.SEED ?? 1)
const MINUTES = Number(process.env.MINUTES ?? 0.25)

it.skipIf(!ENGINES.includes('postgres'))(
  'three processes keep every promise while processes, sessions and carriers come and go',
  async () => {
    const { broken, ...report } = await torment(SEED, MINUTES * 60_000)
    if (process.env.MINUTES) console.log({ seed: SEED, ...report })
    expect(broken, `again: SEED=${SEED} MINUTES=${MINUTES} npm run nemesis`).toEqual([])
    expect(report.sends).toBeGreaterThan(20)
  },
  7_200_000,
)
