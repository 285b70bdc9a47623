import { expect, it } from 'vitest'
import { eventually, spawnServer, temporaryStorage } from '../support/server.js'
import { ADA, credentials, type Json, LINE, type Who } from '../support/world.js'

it('worlds on two processes: either process makes, serves and removes them', async () => {
  const storage = await temporaryStorage('postgres')
  const env = { ...storage, TRUNKLINE_LEASE_MS: '1000', LOG_LEVEL: 'warn' }
  const servers = await Promise.all([spawnServer({ env }), spawnServer({ env })])
  const [one, two] = servers.map(({ url }) => url) as [string, string]
  const ask = async (url: string, as: Who, method: string, path: string, body?: object) => {
    const headers = { ...credentials(as), ...(body && { 'content-type': 'application/json' }) }
    const reply = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: reply.status, body: (reply.status === 204 ? null : await reply.json()) as Json }
  }
  const inbox = `/sim/phones/${encodeURIComponent(ADA)}/inbox?wait=10s`

  const worlds: Json[] = []
  for (const url of [one, two, one, two])
    worlds.push((await ask(url, 'test', 'POST', '/sim/worlds', {})).body)
  expect((await ask(two, 'test', 'GET', '/sim/worlds')).body.data.map(({ id }: Json) => id).sort()).toEqual(
    worlds.map(({ id }) => id).sort(),
  )
  // Each world is used through the process that did not make it.
  const message = { from_number: LINE, number: ADA, content: 'Hello' }
  for (const [i, { keys }] of worlds.entries()) {
    const [maker, other] = i % 2 === 0 ? [one, two] : [two, one]
    expect((await ask(other, keys.live, 'POST', '/api/send-message', message)).status).toBe(202)
    expect((await ask(maker, keys.live, 'GET', inbox)).body.data).toHaveLength(1)
  }
  // Each world is removed through that process, too, with messages on the way in both.
  const gone = worlds.map(async ({ id, keys }, i) => {
    const [maker, other] = i % 2 === 0 ? [one, two] : [two, one]
    const sends = [maker, other, maker, other].map((url) =>
      ask(url, keys.live, 'POST', '/api/send-message', message),
    )
    await sends[0]
    const { status } = await ask(other, 'test', 'DELETE', `/sim/worlds/${id}`)
    const statuses = (await Promise.all(sends)).map((sent) => sent.status)
    expect([status, statuses.filter((sent) => sent !== 202 && sent !== 401)]).toEqual([204, []])
    for (const url of [one, two])
      await eventually(
        () => ask(url, keys.live, 'GET', '/api/lines'),
        (reply) => reply.status === 401,
      )
  })
  await Promise.all(gone)
  expect((await ask(one, 'admin', 'GET', '/sim/worlds')).body.data).toEqual([])
  // The default world goes on, and no process has anything to complain about.
  expect((await ask(two, 'live', 'POST', '/api/send-message', message)).status).toBe(202)
  expect((await ask(one, 'live', 'GET', inbox)).body.data).toHaveLength(1)
  await Promise.all(servers.map((server) => server.kill()))
  expect(
    servers.flatMap(({ output }) =>
      output.split('\n').filter((line) => /"level":[456]0/.test(line) && !line.includes('seal.key')),
    ),
  ).toEqual([])
})
