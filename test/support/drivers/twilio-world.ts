import { createTwilio, type Twilio } from '../../peers/twilio/twilio.js'
import { createWorld, type Engine, type Json, type World } from '../world.js'

/** The number at Twilio, and a person. */
export const NUMBER = '+12025550180'
export const ANNA = '+12025558301'

export type TwilioWorld = Awaited<ReturnType<typeof createTwilioWorld>>

/** A world with a line at a fake Twilio. */
export async function createTwilioWorld(
  engine: Engine,
  settings: object = {},
  prepare: (peer: Twilio, now: number) => void = () => {},
) {
  const world: World = await createWorld(engine, { isReal: true })
  const now = () => world.app.ctx.clock.now()
  const peer = await createTwilio({ number: NUMBER, now })
  prepare(peer, now())
  const accountId = (await world.get('/admin/accounts', 'admin')).body.data[0].id
  const config = {
    account_sid: peer.account,
    auth_token: peer.token,
    api_url: peer.url,
    wire: true,
    ...settings,
  }
  const made = await world.post(
    '/admin/lines',
    { account_id: accountId, number: NUMBER, driver: 'twilio', config, pace: 0 },
    'admin',
  )
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  const lineId: string = made.body.id
  await world.settle()
  return {
    world,
    peer,
    now,
    config,
    lineId,
    line: async (): Promise<Json> => (await world.get(`/admin/lines/${lineId}`, 'admin')).body,
    async send(content: string, fields: object = {}): Promise<string> {
      const { body } = await world.post('/api/send-message', {
        from_number: NUMBER,
        number: ANNA,
        content,
        ...fields,
      })
      await world.settle()
      return body.message_handle
    },
    status: async (handle: string): Promise<string> => (await world.record(handle)).status,
    /** What people wrote to the line, oldest first. */
    async arrived(): Promise<Json[]> {
      const path = '/api/v2/messages?is_outbound=false&order_by=createdAt&order_direction=asc'
      return (await world.get(path)).body.data
    },
    /** Moves the clock in steps, so that requests can follow. */
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 15_000) {
        await world.advance(Math.min(left, 15_000))
        await peer.webhooks.called()
        await world.settle()
      }
    },
    texts: () => peer.sent().map(({ body }) => body),
    async close() {
      await world.close()
      await peer.close()
    },
  }
}
