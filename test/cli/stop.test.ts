import { connect } from 'node:net'
import { expect, it } from 'vitest'
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
