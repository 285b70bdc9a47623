import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuthenticator, registerAuthentication } from '../../src/api/http/auth.js'
import { createErrorHandler } from '../../src/api/http/errors.js'
import { registerPolicies } from '../../src/api/http/policies.js'
import { createLimiter } from '../../src/base/limiter.js'
import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import { createWorld, credentials, ENGINES, LINE, type World } from '../support/world.js'

const { live, test, admin } = DEFAULT_WORLD.keys

/** HTTP Basic is for routes that say so; here are two of them behind the server's own door. */
describe.each(ENGINES)('HTTP Basic on %s', (engine) => {
  let world: World
  let server: FastifyInstance
  beforeAll(async () => {
    world = await createWorld(engine)
    const { ctx } = world.app
    server = Fastify()
    server.setErrorHandler(createErrorHandler(ctx))
    registerPolicies(server)
    registerAuthentication(server, ctx, createAuthenticator(ctx, createLimiter(50, 60_000, Date.now)), false)
    server.get('/open-to-basic', { config: { access: 'account', basic: true } }, async (request) => ({
      key: request.principal?.key?.id,
    }))
    server.get('/keys-only', { config: { access: 'account' } }, async () => ({}))
    await server.ready()
  })
  afterAll(async () => {
    await server.close()
    await world.close()
  })

  const basic = (text: string, scheme = 'Basic') => ({
    authorization: `${scheme} ${Buffer.from(text).toString('base64')}`,
  })
  const ask = async (headers: Record<string, string>, url = '/open-to-basic') => {
    const { statusCode, body } = await server.inject({ url, headers })
    return { status: statusCode, body: JSON.parse(body) }
  }

  it('takes a key as user and password, again and again', async () => {
    for (let i = 0; i < 3; i++) {
      expect(await ask(basic(`${live.id}:${live.secret}`))).toEqual({ status: 200, body: { key: live.id } })
      expect(await ask(basic(`${test.id}:${test.secret}`, 'basic'))).toMatchObject({ body: { key: test.id } })
    }
    expect((await ask(basic(`${admin.id}:${admin.secret}`))).status).toBe(403)
  })

  it('takes the key headers and a token there, too', async () => {
    expect((await ask(credentials('live'))).status).toBe(200)
    const token = (await world.post('/v3/auth/tokens', {})).body
    expect((await ask(credentials(token))).status).toBe(200)
    const confined = (await world.post('/v3/auth/tokens', { phone_number: LINE })).body
    expect((await ask(credentials(confined))).status).toBe(403)
  })

  it('refuses what is not right, and Basic where a route does not take it', async () => {
    const right = basic(`${live.id}:${live.secret}`)
    expect((await ask(right)).status).toBe(200)
    expect((await ask(right, '/keys-only')).status).toBe(401)
    expect((await ask(credentials('live'), '/keys-only')).status).toBe(200)
    for (const headers of [
      basic(`${live.id}:wrong`),
      basic(`${live.id}:`),
      basic(`:${live.secret}`),
      basic(`${live.id}`),
      basic(''),
      basic(`nobody:${live.secret}`),
      basic(`${live.id}:${test.secret}`),
      basic(`${live.id}:${live.secret}:`),
      basic(`${live.id}:${live.secret}`, 'Digest'),
      { authorization: 'Basic' },
      { authorization: 'Basic !!!' },
      { authorization: `Basic ${live.id}:${live.secret}` },
      { ...right, ...credentials('live') },
    ])
      expect([headers, await ask(headers)]).toEqual([
        headers,
        { status: 401, body: { status: 'ERROR', message: 'Unauthorized' } },
      ])
  })
})

it('a route that does not say who may use it stops the server from starting', async () => {
  const server = Fastify()
  registerPolicies(server)
  server.get('/silent', async () => ({}))
  await expect(server.ready()).rejects.toThrow('Routes that do not say who may use them: GET /silent')
})
