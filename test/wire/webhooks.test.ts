import SendblueAPI from 'sendblue'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WEBHOOK_TYPES } from '../../src/core/webhooks/types.js'
import { endpointsOf } from '../../src/services/webhooks/webhooks.js'
import { createWorld, ENGINES, LINE, SHARED_LINE, type World } from '../support/world.js'

const LIVE = { apiKey: 'dev-live-key', apiSecret: 'dev-live-secret' }
const HOOK = 'https://hooks.example.com/in'
const TYPES = [
  'receive',
  'line_blocked',
  'line_assigned',
  'outbound',
  'typing_indicator',
  'call_log',
  'inbound_call',
  'contact_profile',
  'contact_created',
] as const

describe.each(ENGINES)("the published SDK's webhooks on %s", (engine) => {
  let world: World
  let client: SendblueAPI
  beforeAll(async () => {
    world = await createWorld(engine)
    client = new SendblueAPI({ baseURL: world.app.url(), ...LIVE })
  })
  afterAll(() => world.close())

  /** Where deliveries would go: the other side of the configuration. */
  const targets = async () => {
    const key = await world.app.ctx.db.one<{ account_id: string }>(
      "select account_id from keys where id = 'dev-live-key'",
    )
    const found = await endpointsOf(world.app.ctx, key!.account_id)
    return found.map(({ type, url, secret, numbers }) => [type, url, secret, numbers])
  }

  it('are listed, created, updated and deleted', async () => {
    expect(await client.webhooks.list()).toMatchObject({ status: 'OK', webhooks: { receive: [] } })
    const made = await client.webhooks.create({ webhooks: [HOOK], globalSecret: 'global' })
    expect(made).toMatchObject({
      status: 'OK',
      message: 'Webhooks added successfully',
      webhooks: { receive: [HOOK], globalSecret: 'global' },
    })
    expect(await targets()).toEqual([['receive', HOOK, 'global', null]])

    const entries = (type: string) => [HOOK, { url: `${HOOK}/${type}`, secret: `of-${type}` }]
    for (const type of TYPES) await client.webhooks.create({ type, webhooks: entries(type) })
    const { webhooks } = await client.webhooks.list()
    // Types that the SDK does not know are listed as well.
    expect(webhooks).toEqual({
      ...Object.fromEntries(WEBHOOK_TYPES.map((type) => [type, []])),
      ...Object.fromEntries(TYPES.map((type) => [type, entries(type)])),
      globalSecret: 'global',
    })
    expect(await targets()).toHaveLength(18)

    expect((await client.webhooks.update({ webhooks: webhooks! })).webhooks).toEqual(webhooks)
    const updated = await client.webhooks.update({
      webhooks: {
        receive: [{ url: HOOK, secret: 'own', sendblue_numbers: [LINE] }],
        outbound: [HOOK],
      },
    })
    expect(updated).toMatchObject({ status: 'OK', message: 'Webhooks updated successfully' })
    expect(await targets()).toEqual([
      ['outbound', HOOK, null, null],
      ['receive', HOOK, 'own', [LINE]],
    ])

    for (let i = 0; i < 2; i++)
      expect(await client.webhooks.delete({ webhooks: [HOOK], type: 'outbound' })).toEqual({
        status: 'OK',
        message: 'Webhooks deleted successfully',
      })
    await client.webhooks.delete({ webhooks: [HOOK] })
    expect(await targets()).toEqual([])
  })

  it('say what was wrong', async () => {
    const fault = await client.webhooks.create({ webhooks: 'x' as never }).catch((error) => error)
    expect(fault).toBeInstanceOf(SendblueAPI.BadRequestError)
    expect(fault.error).toEqual({ status: 'ERROR', message: 'Missing or invalid webhooks array' })
    await expect(client.webhooks.create({ webhooks: ['http://example.com'] })).rejects.toThrow(/https/)
    const stranger = new SendblueAPI({ baseURL: world.app.url(), apiKey: 'x', apiSecret: 'y' })
    await expect(stranger.webhooks.list()).rejects.toBeInstanceOf(SendblueAPI.AuthenticationError)
  })

  it('are kept to its lines with a line-scoped token', async () => {
    await client.webhooks.update({ webhooks: { receive: [HOOK], globalSecret: 'hidden' } })
    const { token } = await client.auth.tokens.create({ phone_number: LINE })
    const guest = new SendblueAPI({ baseURL: world.app.url(), accessToken: token })
    const mine = `${HOOK}/mine`
    const made = await guest.webhooks.create({ webhooks: [mine] })
    expect(made.webhooks?.receive).toEqual([{ url: mine, sendblue_numbers: [LINE] }])
    expect((await guest.webhooks.list()).webhooks?.globalSecret).toBeUndefined()
    expect(await targets()).toEqual([
      ['receive', HOOK, 'hidden', null],
      ['receive', mine, 'hidden', [LINE]],
    ])
    for (const wrong of [
      () => guest.webhooks.create({ webhooks: [mine], type: 'outbound' }),
      () => guest.webhooks.create({ webhooks: [{ url: mine, sendblue_numbers: [SHARED_LINE] }] }),
      () => guest.webhooks.update({ webhooks: {} }),
    ])
      await expect(wrong()).rejects.toBeInstanceOf(SendblueAPI.PermissionDeniedError)
    await guest.webhooks.delete({ webhooks: [HOOK, mine] })
    expect(await targets()).toEqual([['receive', HOOK, 'hidden', null]])
  })

  it('work on the older path, which older clients know only', async () => {
    const path = '/api/v2/account/webhooks'
    const body = { webhooks: { typing_indicator: [HOOK] } }
    await client.put(path, { body })
    await client.post(path, { body: { webhooks: [{ url: HOOK, secret: 's' }] } })
    expect(await client.get(path)).toEqual(await client.webhooks.list())
    expect(await targets()).toEqual([
      ['receive', HOOK, 's', null],
      ['typing_indicator', HOOK, null, null],
    ])
    await client.delete(path, { body: { webhooks: [HOOK] } })
    expect(await targets()).toEqual([['typing_indicator', HOOK, null, null]])
  })
})
