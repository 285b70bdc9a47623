import { Type } from 'typebox'
import { expect } from 'vitest'
import type { Driver, Finding } from '../../src/drivers/contract.js'
import type { ProbeHost } from '../../src/drivers/host.js'
import type { Json, World } from '../support/world.js'

export const NUMBER = '+13105550140'

/** A carrier of our own: what it was told, and whatever a test wants it to find. */
function createCarrier() {
  const carrier = {
    connected: [] as Json[],
    tried: [] as Json[],
    sent: [] as string[],
    find: async (_host: ProbeHost): Promise<Finding[]> => [],
    say: (_detail: string) => {},
    driver: {} as Driver,
  }
  carrier.driver = {
    kind: 'post',
    title: 'Carrier pigeons',
    config: Type.Object({
      server: Type.String({ minLength: 1, maxLength: 200, description: 'Where the loft is' }),
      token: Type.String({ minLength: 4, maxLength: 200, secret: true, description: 'Opens the loft' }),
      pin: Type.Optional(Type.String({ maxLength: 20, secret: true, description: 'Opens the cage' })),
      birds: Type.Optional(Type.Integer({ minimum: 1, description: 'How many' })),
    }),
    defaults: { pace: 2 },
    capabilities: ({ server }) => ({
      services: (server as string).startsWith('rcs') ? ['RCS'] : ['SMS'],
      ...{ media: false, sendStyles: false, replies: false, groups: false, carousel: false, appCards: false },
      ...{ location: false, reactions: false, typing: false, readReceipts: false, profile: false },
    }),
    async connect(line, host) {
      carrier.connected.push(line.config)
      carrier.say = (detail) => host.state('DEGRADED', detail)
      host.state('ONLINE')
      const server = line.config.server as string
      return {
        async send({ ref, content }) {
          carrier.sent.push(`${server}: ${content}`)
          return server === 'silent'
            ? new Promise(() => {})
            : { outcome: 'accepted', providerId: ref, status: 'SENT' }
        },
        close: () => (server === 'silent' ? new Promise(() => {}) : Promise.resolve()),
      }
    },
    async probe(settings, host) {
      carrier.tried.push(settings)
      return carrier.find(host)
    },
  }
  return carrier
}

/**
 * An administrator's calls, and lines of a carrier of our own. The world is asked for late: it is made when the tests
 * begin.
 */
export function linesIn(world: () => World) {
  const carrier = createCarrier()
  const admin = (method: string, path: string, body?: unknown) =>
    world().call(method, `/admin/${path}`, { as: 'admin', body })
  const firstAccount = async (): Promise<string> => (await admin('GET', 'accounts')).body.data[0].id
  let n = 0
  return {
    carrier,
    admin,
    firstAccount,
    async add(config: object = { server: 'loft', token: 'sesame' }, fields: object = {}) {
      const number = `+131055501${String(50 + n++)}`
      const reply = await admin('POST', 'lines', {
        account_id: await firstAccount(),
        number,
        driver: 'post',
        config,
        ...fields,
      })
      expect(reply.status, JSON.stringify(reply.body)).toBe(201)
      await world().settle()
      await world().app.ctx.lines.tended()
      return reply.body
    },
    async change(id: string, body: object) {
      const reply = await admin('PATCH', `lines/${id}`, body)
      await world().app.ctx.lines.tended()
      return reply
    },
  }
}
