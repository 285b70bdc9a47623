import { createTrunkline } from 'trunkline/testing'
import { afterAll, expect, test } from 'vitest'
import { startApp } from './app.js'

const world = await createTrunkline()
Object.assign(process.env, world.env)
const app = await startApp({ line: world.line, webhookSecret: world.webhooks.secret })
await world.webhooks.listen('receive')
await world.webhooks.forward(app.webhookUrl, 'receive')
afterAll(() => Promise.all([app.close(), world.close()]))

test('the code that a phone gets signs its owner up', async () => {
  const ada = world.phone('+12025550101')
  await app.signUp(ada.number)
  const { extracted } = await ada.waitForMessage({ match: 'sign-up', extract: 'otp' })
  expect(app.confirm(ada.number, extracted)).toBe(true)
})

test('answering with the code does, too', async () => {
  const bob = world.phone('+12025550102')
  await app.signUp(bob.number)
  await bob.text((await bob.waitForMessage({ extract: 'otp' })).extracted)
  const webhook = await world.webhooks.waitFor('receive')
  expect(webhook.body).toMatchObject({ from_number: bob.number, service: 'SMS' })
  await world.settle()
  expect(app.isMember(bob.number)).toBe(true)
})
