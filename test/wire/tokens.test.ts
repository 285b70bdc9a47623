import SendblueAPI from 'sendblue'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startProxy } from '../support/web/proxy.js'
import { ADA, createWorld, ENGINES, LINE, SHARED_LINE, type World } from '../support/world.js'

const LIVE = { apiKey: 'dev-live-key', apiSecret: 'dev-live-secret' }
const HELLO = { from_number: LINE, number: ADA, content: 'Hello from a token' }

describe.each(ENGINES)("the published SDK's tokens on %s", (engine) => {
  let world: World
  let client: SendblueAPI
  beforeAll(async () => {
    world = await createWorld(engine)
    client = new SendblueAPI({ baseURL: world.app.url(), ...LIVE })
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await world.close()
  })

  const bearer = (accessToken: string) => new SendblueAPI({ baseURL: world.app.url(), accessToken })

  it('are minted, used for everything an account does, and revoked', async () => {
    const minted = await client.auth.tokens.create()
    expect(minted).toEqual({
      token: expect.any(String),
      expires_at: new Date(world.app.ctx.clock.now() + 900_000).toISOString(),
      phone_numbers: [],
      token_id: expect.any(String),
      token_type: 'Bearer',
    })
    // The keys in the environment do not travel beside a token.
    vi.stubEnv('SENDBLUE_API_API_KEY', LIVE.apiKey)
    vi.stubEnv('SENDBLUE_API_API_SECRET', LIVE.apiSecret)
    const guest = bearer(minted.token)
    const sent = await guest.messages.send(HELLO)
    expect(sent.status).toBe('QUEUED')
    await world.advance(1000)
    expect(await guest.messages.getStatus({ handle: sent.message_handle! })).toMatchObject({
      status: 'DELIVERED',
    })
    expect((await guest.messages.retrieve(sent.message_handle!)).data?.content).toBe(HELLO.content)
    expect((await guest.messages.list()).pagination?.total).toBe(1)
    expect(await world.inbox(ADA)).toMatchObject([
      { content: HELLO.content, message_handle: sent.message_handle },
    ])
    await expect(guest.auth.tokens.create()).rejects.toBeInstanceOf(SendblueAPI.PermissionDeniedError)
    await expect(guest.auth.tokens.revoke(minted.token_id)).rejects.toBeInstanceOf(
      SendblueAPI.PermissionDeniedError,
    )
    await client.auth.tokens.revoke(minted.token_id)
    await expect(guest.messages.list()).rejects.toBeInstanceOf(SendblueAPI.AuthenticationError)
    await client.auth.tokens.revoke(minted.token_id)
    await expect(client.auth.tokens.revoke('nobody')).rejects.toBeInstanceOf(SendblueAPI.NotFoundError)
  })

  it('are confined to lines', async () => {
    for (const selector of [{ phone_number: SHARED_LINE }, { phone_numbers: [SHARED_LINE] }]) {
      const minted = await client.auth.tokens.create({ expires_in_seconds: 120, ...selector })
      expect(minted.phone_numbers).toEqual([SHARED_LINE])
      const guest = bearer(minted.token)
      const before = (await guest.messages.list()).pagination!.total!
      await expect(guest.messages.send(HELLO)).rejects.toBeInstanceOf(SendblueAPI.PermissionDeniedError)
      const sent = await guest.messages.send({ ...HELLO, from_number: SHARED_LINE })
      expect((await guest.messages.list()).pagination?.total).toBe(before + 1)
      expect((await guest.messages.list()).data![0]!.message_handle).toBe(sent.message_handle)
      await world.advance(120_000)
      await expect(guest.messages.list()).rejects.toBeInstanceOf(SendblueAPI.AuthenticationError)
    }
  })

  it('say what was wrong with a request', async () => {
    const fault = await client.auth.tokens.create({ expires_in_seconds: 1 }).catch((error) => error)
    expect(fault).toBeInstanceOf(SendblueAPI.BadRequestError)
    expect(fault.error.error).toMatchObject({ code: 'invalid', message: expect.stringContaining('60') })
    const test = new SendblueAPI({
      baseURL: world.app.url(),
      apiKey: 'dev-test-key',
      apiSecret: 'dev-test-secret',
    })
    await expect(test.auth.tokens.create()).rejects.toBeInstanceOf(SendblueAPI.PermissionDeniedError)
  })

  it('arrive usable after the first answer was lost', async () => {
    const proxy = await startProxy(world.app.url(), ['drop-answer'])
    try {
      const minted = await client.withOptions({ baseURL: proxy.url }).auth.tokens.create()
      expect(proxy.requests).toHaveLength(2)
      expect((await bearer(minted.token).messages.list()).status).toBe('OK')
    } finally {
      await proxy.close()
    }
  })
})
