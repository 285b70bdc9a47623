import { createTwilio, type Twilio } from '../../peers/twilio/twilio.js'
import type { Engine } from '../world.js'
import { createCarrierWorld } from './carrier-world.js'

/** The number at Twilio, and a person. */
export const NUMBER = '+12025550180'
export const ANNA = '+12025558301'

export type TwilioWorld = Awaited<ReturnType<typeof createTwilioWorld>>

/** A world with a line at a fake Twilio. */
export async function createTwilioWorld(
  engine: Engine,
  settings: object = {},
  prepare?: (peer: Twilio, now: number) => void,
) {
  const on = await createCarrierWorld(engine, {
    driver: 'twilio',
    number: NUMBER,
    person: ANNA,
    makePeer: (now) => createTwilio({ number: NUMBER, now }),
    configOf: ({ account, token, url }) => ({
      account_sid: account,
      auth_token: token,
      api_url: url,
      wire: true,
      ...settings,
    }),
    ...(prepare ? { prepare } : {}),
  })
  return { ...on, texts: () => on.peer.sent().map(({ body }) => body) }
}
