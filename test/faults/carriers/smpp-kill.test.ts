import { describe, it } from 'vitest'
import { ENGINES } from '../../support/world.js'
import { killEverywhere } from './carrier-kill.js'
import { smscCarrier } from './smsc-carrier.js'

describe.concurrent.each(ENGINES)('kill -9 of us and of the SMSC, on %s', (engine) => {
  it('no text twice, none lost, and what the SMSC reports is known', async () => {
    const carrier = await smscCarrier()
    try {
      await killEverywhere(engine, carrier)
    } finally {
      await carrier.close()
    }
  })
})
