import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import { type Json, LINE, type World } from '../support/world.js'

/** A phone that becomes what an unknown number becomes: iMessage, on. */
export const FAY = '+12025550106'

let next = 0
/** Numbers nobody has used yet, so that every test has groups of its own. */
export function fresh(count: number): string[] {
  return Array.from({ length: count }, () => `+1202555${String(2000 + next++)}`)
}

/** Calls that tests of groups share. A function gives the world, because it is made when the tests begin. */
export function groupsIn(world: () => World) {
  const send = (fields: Json = {}, headers: Record<string, string> = {}) =>
    world().post(
      '/api/send-group-message',
      { from_number: LINE, content: 'Hello all', ...fields },
      'live',
      headers,
    )
  return {
    send,
    modify: (group_id: string, kind: 'add' | 'remove', number: string, fields: Json = {}) =>
      world().post('/api/modify-group', { group_id, modify_type: `${kind}_recipient`, number, ...fields }),
    group: async (id: string) => (await world().get(`/api/v2/groups/${id}`)).body.data,
    chat: async (id: string) => (await world().get(`/sim/groups/${id}`)).body,
    eventsOf: async (subject: string) =>
      (await world().events())
        .filter((event) => event.subject === subject)
        .map(({ type, data }) => [type, data]),
    ownerId: async (): Promise<string> =>
      (await world().get('/admin/accounts', 'admin')).body.data.find(
        (one: Json) => one.email === DEFAULT_WORLD.email,
      ).id,
    /** A group that is on its phones. */
    made: async (numbers: string[]): Promise<string> => {
      const { group_id } = (await send({ numbers })).body
      await world().advance(1000)
      return group_id
    },
  }
}
