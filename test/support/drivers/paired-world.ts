import { createDiallingPhone } from '../../peers/smsgate/dialling.js'
import { turns } from '../turns.js'
import { createWorld, type Engine, type Json } from '../world.js'

/** The number of the phone's SIM, and of a person. */
export const SIM = '+12025550180'
export const ANNA = '+12025558201'

/** A world with lines of the driver phone, at an https address. */
export async function createPairedWorld(engine: Engine, numbers: readonly string[] = [SIM]) {
  const world = await createWorld(engine, { env: { TRUNKLINE_PUBLIC_URL: 'https://trunkline.example' } })
  const now = () => world.app.ctx.clock.now()
  const accountId = (await world.get('/admin/accounts', 'admin')).body.data[0].id
  const lineIds: string[] = []
  for (const number of numbers) {
    const line = { account_id: accountId, number, driver: 'phone', pace: 0 }
    lineIds.push((await world.post('/admin/lines', line, 'admin')).body.id)
  }
  await world.settle()
  const phones: { close(): Promise<void> }[] = []
  /** Polls an expectation while time passes: `settle` does not wait for sockets. */
  const eventually = async (what: () => unknown, stepMs = 100) => {
    for (let i = 0; ; i++) {
      await world.advance(stepMs)
      await turns(20)
      try {
        return await what()
      } catch (error) {
        if (i === 600) throw error
      }
    }
  }
  return {
    world,
    now,
    lineIds,
    eventually,
    phone(options: Partial<Parameters<typeof createDiallingPhone>[0]> = {}) {
      const phone = createDiallingPhone({ base: () => world.app.url(), now, ...options })
      phones.push(phone)
      return phone
    },
    /** Makes a phone for the lines; a body with its code. */
    async pair(lines: object[] = [{ line_id: lineIds[0] }]): Promise<Json> {
      return (await world.post('/admin/phones', { lines }, 'admin')).body
    },
    line: async (i = 0): Promise<Json> => (await world.get(`/admin/lines/${lineIds[i]}`, 'admin')).body,
    async send(content: string, to = ANNA, from = SIM): Promise<string> {
      const { body } = await world.post('/api/send-message', { from_number: from, number: to, content })
      return body.message_handle
    },
    async close() {
      for (const phone of phones) await phone.close()
      await world.close()
    },
  }
}

export type PairedWorld = Awaited<ReturnType<typeof createPairedWorld>>
