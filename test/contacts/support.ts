import type { Json, World } from '../support/world.js'

export const NOBODY = '+12025550188'
export const pathOf = (phone: string) => `/api/v2/contacts/${phone}`
let used = 0
/** Numbers nobody else uses. */
export const fresh = () => `+1303555${String(1000 + used++).padStart(4, '0')}`

/** The calls that contacts are kept by. The world is asked for late: it is made when the tests begin. */
export function contactsIn(world: () => World) {
  return {
    create: (body: Json, headers?: Record<string, string>) =>
      world().post('/api/v2/contacts', body, undefined, headers),
    get: async (phone: string) => (await world().get(pathOf(phone))).body.contact,
    put: (phone: string, body: Json) => world().call('PUT', pathOf(phone), { body }),
    bulk: (contacts: Json, headers?: Record<string, string>) =>
      world().post('/api/v2/contacts/bulk', { contacts }, undefined, headers),
    count: async () => (await world().get('/api/v2/contacts/count')).body.count,
    list: async (query = '') => (await world().get(`/api/v2/contacts?${query}`)).body,
    labels: async () =>
      (
        await world().app.ctx.db.all<{ label: string }>('select label from contact_labels order by label')
      ).map((row) => row.label),
  }
}
