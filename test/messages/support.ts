import { createWorld, type Engine, type Json, type Who, type World } from '../support/world.js'

export const SMS_LINE = '+12025550160'
export const B_LINE = '+12025550150'
export const STRANGER = '+12025550170'
export const NO_HANDLE = '00000000-0000-4000-8000-000000000000'

/** A world with a line for SMS alone, and with another account that has a conversation of its own. */
export async function createPresenceWorld(engine: Engine) {
  const world = await createWorld(engine)
  const b = await world.addAccount('b@example.com', B_LINE)
  const accounts = (await world.get('/admin/accounts', 'admin')).body.data
  const { id: account_id } = accounts.find((one: Json) => one.email === 'dev@trunkline.local')
  await world.post('/admin/lines', { account_id, number: SMS_LINE, config: { services: ['SMS'] } }, 'admin')
  const bHandle: string = (await world.send({ from_number: B_LINE }, b.live)).message_handle
  await world.advance(1000)
  return { world, b, bHandle }
}

/** Acts and views of both sides. A function gives the world, because it is made when the tests begin. */
export function sidesOf(world: () => World) {
  const screen = async (phone: string, as: Who = 'live') =>
    (await world().get(`/sim/phones/${phone}/inbox?limit=1000`, as)).body
  const received = async () => (await world().get('/api/v2/messages?is_outbound=false&limit=1')).body.data[0]
  return {
    screen,
    onPhone: async (phone: string, handle: string) =>
      (await screen(phone)).data.find((one: Json) => one.message_handle === handle),
    sent: async (fields: Json = {}) => {
      const { message_handle } = await world().send(fields)
      await world().advance(1000)
      return message_handle as string
    },
    received,
    text: async (phone: string, content: string) => {
      const { id } = await world().text(phone, content)
      await world().advance(10)
      return { id: id as string, record: await received() }
    },
  }
}
