import { createTelnyx, type Telnyx } from '../../peers/telnyx/telnyx.js'
import type { Engine } from '../world.js'
import { createCarrierWorld } from './carrier-world.js'

/** The number at Telnyx, and a person. */
export const NUMBER = '+12025550180'
export const ANNA = '+12025558301'

export type TelnyxWorld = Awaited<ReturnType<typeof createTelnyxWorld>>

/** A world with a line at a fake Telnyx. */
export async function createTelnyxWorld(
  engine: Engine,
  settings: object = {},
  prepare?: (peer: Telnyx, now: number) => void,
) {
  const on = await createCarrierWorld(engine, {
    driver: 'telnyx',
    number: NUMBER,
    person: ANNA,
    makePeer: (now) => createTelnyx({ number: NUMBER, now }),
    configOf: ({ key, webhooks, url }) => ({
      api_key: key,
      public_key: webhooks.publicKey,
      api_url: url,
      wire: true,
      ...settings,
    }),
    ...(prepare ? { prepare } : {}),
  })
  return { ...on, texts: () => on.peer.sent().map(({ text }) => text) }
}
