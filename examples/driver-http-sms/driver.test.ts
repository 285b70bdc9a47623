import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTrunkline } from 'trunkline/testing'
import { driver } from './driver.js'
import { startGateway } from './gateway.js'

const LINE = '+12025550188'
const ADA = '+12025550101'
const account = { apiKey: 'the-key-of-the-account', secret: 'what-callbacks-are-signed-with' }

const gateway = await startGateway(account)
const world = await createTrunkline({ drivers: [driver], databaseUrl: process.env.DATABASE_URL })
const { data: accounts } = await world.request('GET', '/admin/accounts', undefined, world.keys.admin)
const config = { base_url: gateway.url, api_key: account.apiKey, callback_secret: account.secret }
const { id: line } = await addLine(LINE, config)
after(() => Promise.all([world.close(), gateway.close()]))

async function addLine(number: string, config: object) {
  const line = { account_id: accounts[0].id, number, driver: driver.kind, config, pace: 0 }
  const added = await world.request('POST', '/admin/lines', line, world.keys.admin)
  await world.settle()
  return added
}

async function send(content: string) {
  const body = { from_number: LINE, number: ADA, content }
  const { message_handle: handle } = await world.request('POST', '/api/send-message', body)
  await world.settle()
  const record = async () => (await world.request('GET', `/api/v2/messages/${handle}`)).data
  return { record, status: async () => (await record()).status }
}

const taken = (text: string) => gateway.messages.filter((message) => message.text === text)

test('a message goes out, and its receipts come back, in any order and twice', async () => {
  const message = await send('Hello')
  const [sent, ...more] = taken('Hello')
  assert.deepEqual([sent?.from, sent?.to, more.length], [LINE, ADA, 0])
  assert.equal(await message.status(), 'ACCEPTED')
  assert.equal(await gateway.report(sent!, 'delivered'), 200)
  assert.equal(await gateway.report(sent!, 'sent'), 200)
  assert.equal(await gateway.report(sent!, 'delivered'), 200)
  assert.equal(await message.status(), 'DELIVERED')
})

test('a message comes in, once, however often it is brought', async () => {
  for (let i = 0; i < 3; i++) assert.equal(await gateway.text(ADA, LINE, 'Hi there', 'in-1'), 200)
  const { data } = await world.request('GET', '/api/v2/messages?is_outbound=false')
  assert.deepEqual(
    data.map((one: Record<string, unknown>) => [one.from_number, one.to_number, one.content, one.service]),
    [[ADA, LINE, 'Hi there', 'SMS']],
  )
})

for (const mood of ['takes it and is cut off', 'takes it and a proxy fails'] as const)
  test(`nothing is sent twice when the gateway ${mood}`, async () => {
    gateway.moods.push(mood)
    const message = await send(mood)
    await world.advance('1m')
    assert.equal(taken(mood).length, 1)
    assert.equal(await message.status(), 'ACCEPTED')
    await gateway.report(taken(mood)[0]!, 'delivered')
    assert.equal(await message.status(), 'DELIVERED')
  })

test('what the gateway does not know after its time is sent again', async () => {
  gateway.moods.push('is cut off')
  const message = await send('once more')
  await world.advance('9s')
  assert.equal(taken('once more').length, 0)
  await world.advance('10s')
  assert.deepEqual([taken('once more').length, await message.status()], [1, 'ACCEPTED'])
})

test('a busy gateway is given the time it asks for', async () => {
  gateway.moods.push('busy')
  const message = await send('later')
  await world.advance('6s')
  assert.equal(taken('later').length, 0)
  await world.advance('2s')
  assert.deepEqual([taken('later').length, await message.status()], [1, 'ACCEPTED'])
})

test('a refusal is final, with its reason', async () => {
  gateway.moods.push('refuses')
  const message = await send('no')
  const { status, error_detail } = await message.record()
  assert.deepEqual([status, error_detail], ['ERROR', 'number: No such number'])
})

test('a callback that the gateway did not sign is refused, and nonsense that it did sign changes nothing', async () => {
  const forged = JSON.stringify({ event: 'message', id: 'in-2', from: ADA, to: LINE, text: 'Forged' })
  for (const signature of ['', 'zz', '00'.repeat(32)])
    assert.equal(await gateway.call(LINE, forged, signature), 403)
  for (const body of [
    '',
    '{',
    'null',
    '[]',
    '7',
    '{"event":"status","id":7}',
    '{"event":"message","id":"x"}',
  ])
    assert.equal(await gateway.call(LINE, body), 200)
  const { data } = await world.request('GET', '/api/v2/messages?is_outbound=false')
  assert.equal(data.length, 1)
})

test('a line that cannot connect says why', async () => {
  const { id } = await addLine('+12025550189', { ...config, api_key: 'wrong' })
  const shown = await world.request('GET', `/admin/lines/${id}`, undefined, world.keys.admin)
  assert.deepEqual([shown.state, shown.state_detail], ['OFFLINE', 'The gateway rejects the API key'])
})

test('settings are checked before they are kept', async () => {
  await assert.rejects(addLine('+12025550190', { ...config, callback_secret: 'short' }), /callback_secret/)
  await assert.rejects(addLine('+12025550190', { ...config, more: 1 }), /more|additional/)
})

test('a line that is removed lets go', async () => {
  await world.request('DELETE', `/admin/lines/${line}`, undefined, world.keys.admin)
  await world.settle()
  assert.equal(await gateway.text(ADA, LINE, 'Anyone?'), 404)
})
