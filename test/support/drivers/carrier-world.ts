import { createWorld, type Engine, type Json, type World } from '../world.js'

/** What a world needs of a fake carrier. */
interface Peer {
  webhooks: { called(): Promise<unknown> }
  close(): Promise<void>
}

interface Setup<P extends Peer> {
  driver: string
  number: string
  /** Recipient of `send`. */
  person: string
  makePeer(now: () => number): Promise<P>
  configOf(peer: P): Record<string, unknown>
  prepare?(peer: P, now: number): void
}

/** A world with a line at a fake carrier. */
export async function createCarrierWorld<P extends Peer>(
  engine: Engine,
  { driver, number, person, makePeer, configOf, prepare }: Setup<P>,
) {
  const world: World = await createWorld(engine, { isReal: true })
  const now = () => world.app.ctx.clock.now()
  const peer = await makePeer(now)
  prepare?.(peer, now())
  const accountId = (await world.get('/admin/accounts', 'admin')).body.data[0].id
  const config = configOf(peer)
  const made = await world.post(
    '/admin/lines',
    { account_id: accountId, number, driver, config, pace: 0 },
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
    accountId,
    line: async (): Promise<Json> => (await world.get(`/admin/lines/${lineId}`, 'admin')).body,
    async send(content: string, fields: object = {}): Promise<string> {
      const { body } = await world.post('/api/send-message', {
        from_number: number,
        number: person,
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
    async close() {
      await world.close()
      await peer.close()
    },
  }
}
