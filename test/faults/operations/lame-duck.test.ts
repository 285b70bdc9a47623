import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { spawnServer } from '../../support/server.js'
import { credentials, ENGINES } from '../../support/world.js'

const CLIENTS = 40
const LAME_DUCK_MS = 2000

interface Answer {
  status: number
  connection: string | undefined
  isReadyCheck: boolean
}

/** Asks again and again on one connection, until the server refuses. Pauses leave the connection idle. */
async function keepAsking(url: string, index: number, answers: Answer[], errors: string[]): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const isReadyCheck = index === 0
  for (;;) {
    const outcome = await new Promise<Answer | string>((resolve) => {
      const asked = request(
        `${url}${isReadyCheck ? '/readyz' : '/api/v2/lines/state'}`,
        { agent, headers: credentials('live') },
        (reply) => {
          reply.resume().once('end', () =>
            resolve({
              status: reply.statusCode!,
              connection: reply.headers.connection,
              isReadyCheck,
            }),
          )
          reply.once('error', (error) => resolve(String(error)))
        },
      )
      asked.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? String(error))).end()
    })
    if (typeof outcome === 'string') errors.push(outcome)
    else answers.push(outcome)
    if (typeof outcome === 'string' || outcome.status === 503) return agent.destroy()
    await new Promise((resolve) => setTimeout(resolve, (index * 7) % 30))
  }
}

describe.each(ENGINES)('SIGTERM with keep-alive clients on %s', (engine) => {
  it('is not ready first, tells clients to go, and resets no connection', async () => {
    const server = await spawnServer({
      engine,
      env: { TRUNKLINE_LAME_DUCK_MS: String(LAME_DUCK_MS), LOG_LEVEL: 'silent' },
    })
    const answers: Answer[] = []
    const errors: string[] = []
    const clients = Array.from({ length: CLIENTS }, (_, i) => keepAsking(server.url, i, answers, errors))
    while (answers.length < CLIENTS * 3) await new Promise((resolve) => setTimeout(resolve, 5))
    const before = answers.length
    expect(await server.kill('SIGTERM')).toMatchObject({ code: 0 })
    await Promise.all(clients)
    expect(errors).toEqual([])
    const requests = answers.slice(before).filter(({ isReadyCheck }) => !isReadyCheck)
    expect(requests.filter(({ connection }) => connection === 'close').length).toBeGreaterThanOrEqual(
      CLIENTS - 1,
    )
    // The last answer of each client is a refusal in words; until then it is served.
    expect(requests.filter(({ status }) => status === 503)).toHaveLength(CLIENTS - 1)
    expect(requests.filter(({ status }) => status > 503)).toEqual([])
    const checks = answers.filter(({ isReadyCheck }) => isReadyCheck).map(({ status }) => status)
    expect(checks[0]).toBe(200)
    expect(checks.at(-1)).toBe(503)
  }, 60_000)
})

it('a stop that takes long because clients get long to go is not taken for one that hangs', async () => {
  // Ten seconds after the time for sends on the wire, a stop counts as hung.
  const env = { TRUNKLINE_LAME_DUCK_MS: '6000', TRUNKLINE_DRAIN_MS: '0', LOG_LEVEL: 'silent' }
  const server = await spawnServer({ env })
  const { hostname, port } = new URL(server.url)
  const client = connect(Number(port), hostname).on('error', () => {})
  await once(client, 'connect')
  expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  client.destroy()
})
