import { createTrunkline } from 'trunkline/testing'
import { afterAll, expect, test } from 'vitest'
import { startAgent } from './agent.js'

const world = await createTrunkline()
Object.assign(process.env, world.env)
const agent = await startAgent({
  apiKey: world.keys.live.id,
  apiSecret: world.keys.live.secret,
  line: world.line,
  webhookSecret: world.webhooks.secret,
})
await world.webhooks.forward(agent.webhookUrl, 'receive')
afterAll(() => Promise.all([agent.close(), world.close()]))

test('a phone texts, and sees the answer, without the markdown', async () => {
  const ada = world.phone('+12025550101')
  await ada.text('Hello')
  expect((await ada.waitForMessage()).content).toContain('Text "add milk"')
  await ada.text('add milk')
  expect((await ada.waitForMessage()).content).toBe('Added milk. Things on your list: 1')
})

test('the agent remembers each person apart, by SMS, too', async () => {
  const [bob, cleo] = [world.phone('+12025550102'), world.phone('+12025550103')]
  await bob.text('add bread')
  await bob.waitForMessage()
  await cleo.text('list')
  expect((await cleo.waitForMessage()).content).toBe('Your list is empty.')
  await bob.text('list')
  expect(await bob.waitForMessage({ match: /^bread$/ })).toMatchObject({ service: 'SMS' })
})

test('texts that come at once are all answered', async () => {
  const eli = world.phone('+12025550177')
  await Promise.all(['add one', 'add two', 'add three'].map((words) => eli.text(words)))
  await eli.waitForMessage({ match: 'list: 3' })
})

test('a webhook with another secret is refused', async () => {
  const headers = { 'sb-signing-secret': 'wrong' }
  const response = await fetch(agent.webhookUrl, { method: 'POST', headers, body: '{}' })
  expect(response.status).toBe(401)
})
