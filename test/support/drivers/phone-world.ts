import { createSmsGate, type SmsGate } from '../../peers/smsgate/smsgate.js'
import { createWorld, type Engine, type Json, type World } from '../world.js'

/** The number of the phone's SIM, and of a person. */
export const SIM = '+12025550180'
export const ANNA = '+12025558201'

export type PhoneWorld = Awaited<ReturnType<typeof createPhoneWorld>>

/** A world with a line on a fake phone. */
export async function createPhoneWorld(
  engine: Engine,
  settings: object = {},
  prepare: (phone: SmsGate, now: number) => void = () => {},
) {
  const world: World = await createWorld(engine, { isReal: true })
  const now = () => world.app.ctx.clock.now()
  const phone = await createSmsGate({ now })
  prepare(phone, now())
  const accountId = (await world.get('/admin/accounts', 'admin')).body.data[0].id
  const config = { url: phone.url, username: phone.username, password: phone.password, ...settings }
  const made = await world.post(
    '/admin/lines',
    { account_id: accountId, number: SIM, driver: 'smsgate', config, pace: 0 },
    'admin',
  )
  const lineId: string = made.body.id
  await world.settle()
  return {
    world,
    phone,
    now,
    config,
    lineId,
    line: async (): Promise<Json> => (await world.get(`/admin/lines/${lineId}`, 'admin')).body,
    async send(content: string, to = ANNA): Promise<string> {
      const { body } = await world.post('/api/send-message', { from_number: SIM, number: to, content })
      await world.settle()
      return body.message_handle
    },
    /** Moves the clock in steps, so that requests to the phone can follow. */
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 5000) {
        await world.advance(Math.min(left, 5000))
        await world.settle()
      }
    },
    aired: () => phone.queue.aired.map(({ text }) => text),
    async close() {
      await world.close()
      await phone.close()
    },
  }
}
