import { expect } from 'vitest'
import { WEBHOOK_TYPES } from '../../src/core/webhooks/types.js'
import type { WebhookEndpoint } from '../../src/core/webhooks/webhook.js'
import { endpointsOf } from '../../src/services/webhooks/webhooks.js'
import type { Json, Reply, Who, World } from '../support/world.js'

export const PATH = '/api/account/webhooks'
export const HOOK = 'https://hooks.example.com/in'
export const OTHER = 'https://hooks.example.com/other'
export const EMPTY = Object.fromEntries(WEBHOOK_TYPES.map((type) => [type, []]))

/** The calls that webhooks are managed by. The world is asked for late: it is made when the tests begin. */
export function webhooksIn(world: () => World) {
  const call = (method: string, body?: Json, as: Who = 'live', path = PATH) =>
    world().call(method, path, { as, ...(body === undefined ? {} : { body }) })
  /** The account of the live key. */
  const ownAccount = async () =>
    (await world().app.ctx.db.one<{ account_id: string }>(
      "select account_id from keys where id = 'dev-live-key'",
    ))!.account_id
  const endpoints = async (accountId?: string) =>
    endpointsOf(world().app.ctx, accountId ?? (await ownAccount()))
  return {
    call,
    add: (webhooks: Json, fields: Json = {}, as?: Who) => call('POST', { webhooks, ...fields }, as),
    put: (webhooks: Json, as?: Who) => call('PUT', { webhooks }, as),
    remove: (webhooks: Json, fields: Json = {}, as?: Who) => call('DELETE', { webhooks, ...fields }, as),
    list: async (as?: Who) => {
      const { status, body } = await call('GET', undefined, as)
      expect([status, body.status]).toEqual([200, 'OK'])
      return body.webhooks
    },
    ownAccount,
    endpoints,
    endpoint: async (url = HOOK) => (await endpoints()).find((one) => one.url === url) as WebhookEndpoint,
  }
}

/** Refused for good, with exactly these words. */
export function refused(reply: Reply, message: string | RegExp, status = 400) {
  expect([reply.status, reply.body]).toEqual([
    status,
    {
      status: 'ERROR',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    },
  ])
  expect(reply.headers['x-should-retry']).toBe('false')
}
