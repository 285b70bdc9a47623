import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTrunkline } from 'trunkline/testing'
import { startBot } from './bot.js'

// A server, a line and virtual phones, all in this process.
const world = await createTrunkline()
Object.assign(process.env, world.env)
const bot = await startBot({ port: 0, secret: world.webhooks.secret })
await world.webhooks.forward(bot.url, 'receive')
after(() => Promise.all([bot.close(), world.close()]))

test('a person who texts gets an answer, once, also if the webhook comes twice', async () => {
  const ada = world.phone('+12025550101')
  await ada.text('Is anybody there?')
  const { content } = await ada.waitForMessage()
  assert.equal(content, 'You said: Is anybody there?')
  await world.settle()
  await world.request('POST', '/v3/webhook-deliveries/replay', { status: 'delivered' })
  await world.settle()
  assert.equal((await ada.inbox()).length, 1)
})

test('a person who texts STOP gets no answer', async () => {
  await world.phone('+12025550102').text('STOP')
  await world.settle()
  const { data } = await world.request('GET', '/api/v2/messages?is_outbound=true&number=%2B12025550102')
  assert.ok(data.length > 0, 'Trunkline itself confirms the opt-out')
  assert.doesNotMatch(JSON.stringify(data), /You said/)
})

test('a webhook without a valid signature is refused', async () => {
  const body = JSON.stringify({ content: 'Hello', from_number: '+12025550103', sendblue_number: world.line })
  const response = await fetch(bot.url, { method: 'POST', body })
  assert.equal(response.status, 401)
  assert.deepEqual(await world.phone('+12025550103').inbox(), [])
})
