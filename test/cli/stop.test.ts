import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { eventually, startCli } from '../support/server.js'
import { createWorld } from '../support/world.js'

it('a stop does not wait for someone who connects and says nothing', async () => {
  const world = await createWorld('sqlite')
  const { hostname, port } = new URL(world.app.url())
  const silent = connect(Number(port), hostname)
  await new Promise((connected) => silent.once('connect', connected))
  const gone = new Promise((closed) => silent.once('close', closed))
  silent.on('error', () => {})
  await world.close()
  expect(await gone).toBe(false)
})

it('a start that waits for its database ends at a signal, also as the first process of a container', async () => {
  // The kernel drops signals that the first process of a container has no handler for.
  const server = startCli(['serve'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing', PORT: '0' })
  await eventually(
    async () => server.stderr,
    (text) => text.includes('Trying again'),
  )
  expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null })
})
