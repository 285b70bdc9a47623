import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, test } from 'node:test'
import { createTrunkline } from 'trunkline/testing'
import { driver } from './driver.js'
import { startFake } from './fake.js'

const LINE = '+12025550400'
let people = 100
let [ada, ben] = ['', '']
const SEND = 'POST /v2/send'

const world = await createTrunkline({
  drivers: [driver],
  databaseUrl: process.env.DATABASE_URL,
  time: '2026-03-01T12:00:00Z',
})
const signal = await startFake(LINE, () => world.now().getTime())
const admin = (method: string, path: string, body?: object) =>
  world.request(method, path, body, world.keys.admin)
const { data: accounts } = await admin('GET', '/admin/accounts')
const lineOf = (number: string, config: object) => ({
  account_id: accounts[0].id,
  number,
  driver: driver.kind,
  config,
  pace: 0,
})
const { id: line } = await admin('POST', '/admin/lines', lineOf(LINE, { url: signal.url }))
await world.settle()
after(() => Promise.all([world.close(), signal.stop()]))
afterEach(() => signal.clear())
beforeEach(() => {
  // Others in each test: later messages to a person wait for one in doubt.
  ;[ada, ben] = [++people, ++people].map((n) => `+12025550${n}`) as [string, string]
})

const post = (path: string, body: object) => world.request('POST', path, { from_number: LINE, ...body })
const state = async () =>
  (await admin('GET', `/admin/lines/${line}`)) as { state: string; state_detail: string }
const events = async () =>
  (await world.eventLog())
    .split('\n')
    .filter(Boolean)
    .map((one) => JSON.parse(one))
const inbound = async (from: string) => {
  const { data } = await world.request('GET', '/api/v2/messages?is_outbound=false&limit=100')
  return data.filter((one: { from_number: string }) => one.from_number === from)
}

/** Lets the driver ask for news. */
async function pass(time: Parameters<typeof world.advance>[0] = '3s') {
  await world.advance(time)
  await world.settle()
}

async function send(content: string, body: object = { number: ada }) {
  const { message_handle: handle } = await post('/api/send-message', { content, ...body })
  await world.settle()
  const record = async () => (await world.request('GET', `/api/v2/messages/${handle}`)).data
  const copies = () => signal.sent.filter(({ message }) => message === content)
  return { handle, record, status: async () => (await record()).status, copies }
}

test('a message goes out as it is, and its receipts come back', async () => {
  const message = await send('*Hello*')
  const [copy] = message.copies()
  assert.deepEqual([copy?.recipients, await message.status()], [[ada], 'SENT'])
  signal.receipt(ada, 'isRead', copy!.timestamp)
  signal.receipt(ada, 'isDelivery', copy!.timestamp)
  await pass()
  assert.equal(await message.status(), 'DELIVERED')
  assert.equal((await events()).filter(({ type }) => type === 'message.read').length, 1)
})

test('versions that answer with a list are understood', async () => {
  signal.set({ isArray: true })
  assert.equal(await (await send('listed')).status(), 'SENT')
  signal.set({ isArray: false })
})

test('a message comes in once, however often it is delivered', async () => {
  const item = signal.text(ada, 'Hi there')
  signal.again(item)
  await pass()
  signal.again(item)
  await pass()
  const found = (await inbound(ada)).map((one: Record<string, unknown>) => [one.content, one.service])
  assert.deepEqual(found, [['Hi there', 'RCS']])
})

for (const fault of ['cut after', 'html after'] as const)
  test(`a receipt resolves a send without an answer: ${fault}`, async () => {
    signal.fault(SEND, fault)
    const message = await send(`doubted: ${fault}`)
    assert.deepEqual([message.copies().length, await message.status()], [1, 'PENDING'])
    signal.receipt(ada, 'isDelivery', message.copies()[0]!.timestamp)
    await pass()
    assert.deepEqual([message.copies().length, await message.status()], [1, 'DELIVERED'])
  })

test('a receipt for a message from another device resolves nothing', async () => {
  signal.fault(SEND, 'cut before')
  const message = await send('from the line')
  const timestamp = world.now().getTime() + 7
  signal.deliver(LINE, { syncMessage: { sentMessage: { timestamp, message: 'from the phone' } } })
  signal.receipt(ada, 'isDelivery', timestamp)
  await pass()
  assert.equal(await message.status(), 'PENDING')
})

test('a doubt that nothing resolves is an error after ten minutes, and is not sent again', async () => {
  signal.fault(SEND, { status: 400, error: 'process killed as timeout reached' })
  const message = await send('who knows')
  signal.clear()
  await pass('500s')
  assert.equal(await message.status(), 'PENDING')
  await pass('200s')
  const { status, error_reason } = await message.record()
  assert.deepEqual([status, error_reason, message.copies().length], ['ERROR', 'outcome_unknown', 0])
})

for (const [error, detail] of [
  ['{"results":[{"type":"UNREGISTERED_FAILURE"}]}\nFailed to send message\n', 'not on Signal'],
  ['Failed to send message due to untrusted identities', 'safety number has changed'],
  ['Unable to complete request due to untrusted recipient keys', 'safety number has changed'],
  ["Couldn't process request - invalid request", "Couldn't process request"],
] as const)
  test(`a refusal is final: ${error}`, async () => {
    signal.fault(SEND, { status: 400, error })
    const { status, error_detail, error_reason } = await (await send(`no: ${error}`)).record()
    assert.deepEqual([status, error_reason], ['ERROR', 'refused'])
    assert.match(error_detail, new RegExp(detail))
  })

for (const [status, error] of [
  [429, 'Rate limited. Use the attached challenge tokens'],
  [400, 'Failed to send message due to rate limiting'],
  [400, `User ${LINE} is not registered.\n`],
] as const)
  test(`Signal refuses the line for a while: ${status} ${error}`, async () => {
    signal.fault(SEND, { status, error })
    const message = await send(`later: ${error}`)
    await pass()
    assert.equal((await state()).state, 'DEGRADED')
    signal.clear()
    await world.advance('15m')
    await pass()
    assert.deepEqual([message.copies().length, await message.status()], [1, 'SENT'])
    assert.equal((await state()).state, 'ONLINE')
  })

test('files go out and come in', async () => {
  signal.files.set('cat', Buffer.from('bytes of a cat'))
  signal.files.set('dog', Buffer.from('bytes of a dog'))
  const message = await send('', { number: ada, media_url: `${signal.url}/v1/attachments/cat` })
  const [file] = message.copies()[0]!.base64_attachments!
  assert.match(file!, /^data:image\/jpeg;filename=[^;,]+;base64,/)
  assert.equal(Buffer.from(file!.split(',')[1]!, 'base64').toString(), 'bytes of a cat')
  const attachments = ['cat', 'dog', 'gone'].map((id) => ({ id, contentType: 'image/jpeg', size: 14 }))
  signal.text(ben, 'Look', { attachments })
  await pass()
  const found = (await inbound(ben)).reverse() as { content: string; media_url: string }[]
  assert.deepEqual(
    found.map(({ content }) => content),
    ['Look', '', ''],
  )
  const bodies = found.slice(0, 2).map(async (one) => (await fetch(one.media_url)).text())
  assert.deepEqual(await Promise.all(bodies), ['bytes of a cat', 'bytes of a dog'])
})

test('replies and reactions name their message', async () => {
  const question = await send('Coffee?')
  const { timestamp } = question.copies()[0]!
  signal.text(ada, 'Yes', { quote: { id: timestamp, authorNumber: LINE, text: 'Coffee?' } })
  const reaction = { emoji: '👍', isRemove: false, targetAuthorNumber: LINE, targetSentTimestamp: timestamp }
  signal.text(ada, '', { reaction })
  await pass()
  const [reacted, answer] = await inbound(ada)
  assert.deepEqual([reacted.content, answer.content], ['Reacted 👍', 'Yes'])
  assert.equal(answer.reply_to.message_handle, question.handle)
  assert.equal((await events()).find(({ type }) => type === 'message.reaction')?.subject, question.handle)
  const back = await send('Noon?', { number: ada, reply_to: { message_handle: answer.message_handle } })
  const { quote_timestamp, quote_author } = back.copies()[0]!
  assert.ok(quote_timestamp! > timestamp && quote_author!.length === 36)
})

test('typing and reading go both ways', async () => {
  signal.text(ada, 'Are you there?')
  signal.deliver(ada, { typingMessage: { action: 'STARTED', timestamp: 1 } })
  await pass()
  assert.ok((await events()).some(({ type }) => type === 'typing_indicator' || /typing/.test(type)))
  const heard = (route: string) => signal.heard.filter((one) => one.route === route).map(({ body }) => body)
  await post('/api/mark-read', { number: ada })
  assert.equal(heard('POST /v1/receipts').at(-1).receipt_type, 'read')
  const before = heard('POST /v1/receipts').length
  await post('/api/mark-read', { number: ada })
  assert.equal(heard('POST /v1/receipts').length, before)
  await post('/api/send-typing-indicator', { number: ada, state: 'start' })
  await pass('25s')
  assert.deepEqual(heard('PUT /v1/typing-indicator').slice(0, 2), [{ recipient: ada }, { recipient: ada }])
  await post('/api/send-typing-indicator', { number: ada, state: 'stop' })
  assert.equal(heard('DELETE /v1/typing-indicator').length, 1)
})

test('a person who hides the number has an address of their own', async () => {
  const uuid = '7b0c1f4e-3a52-4a0e-9a6e-2f8d0c5b7e11'
  signal.text(uuid, 'STOP')
  await pass()
  assert.equal((await inbound(`${uuid}@signal.invalid`)).length, 1)
  assert.equal(signal.sentTo(uuid).length, 1)
})

test('a group is created once, also if the answer gets lost', async () => {
  signal.fault('POST /v1/groups', 'cut after')
  const body = { numbers: [ada, ben], content: 'Hello all' }
  const { group_id, message_handle } = await post('/api/send-group-message', body)
  await pass('1s')
  signal.clear()
  await pass('10s')
  const [group, ...more] = signal.groups
  assert.equal(more.length, 0)
  const sent = signal.sentTo(group!.id)
  const record = (await world.request('GET', `/api/v2/messages/${message_handle}`)).data
  assert.deepEqual([sent.length, record.status, record.service], [1, 'SENT', 'RCS'])

  const groupInfo = { groupId: group!.internal_id, groupName: group!.name, revision: 1, type: 'DELIVER' }
  signal.text(ben, 'Hello you', { groupInfo })
  await pass()
  assert.equal((await inbound(ben))[0].group_id, group_id)

  await world.request('POST', `/api/v2/groups/${group_id}/name`, { group_name: 'Lunch' })
  await post('/api/modify-group', {
    group_id,
    modify_type: 'add_recipient',
    number: `${ada.slice(1)}@signal.invalid`,
  })
  assert.deepEqual([group!.name, group!.members], ['Lunch', [LINE, ada, ben, ada.slice(1)]])
})

test('an answer that gets lost loses the messages in it, at most twenty', async () => {
  signal.fault('GET /v1/receive', 'cut after')
  for (let i = 0; i < 25; i++) signal.text(ada, `text ${i}`)
  await pass()
  assert.equal((await state()).state, 'OFFLINE')
  signal.clear()
  await pass()
  assert.equal((await state()).state, 'ONLINE')
  assert.equal((await inbound(ada)).length, 5)
})

test('a line that cannot receive says why', async () => {
  signal.set({ mode: 'json-rpc' })
  await pass()
  assert.match((await state()).state_detail, /json-rpc mode.*MODE=native/)
  signal.set({ mode: 'native', accounts: [] })
  await pass()
  assert.match((await state()).state_detail, /is not registered/)
  signal.set({ accounts: [LINE] })
  await pass()
  assert.equal((await state()).state, 'ONLINE')
})

test('settings are checked before they are stored', async () => {
  const check = async (number: string, config: object) => {
    const { findings, checks } = await admin('POST', '/admin/lines/test', lineOf(number, config))
    return (findings ?? checks)
      .filter((one: { ok: boolean }) => !one.ok)
      .map((one: { what: string }) => one.what)
  }
  assert.deepEqual(await check(LINE, { url: signal.url }), [])
  assert.match((await check('+12025550401', { url: signal.url }))[0], /is not registered there/)
  assert.match((await check(LINE, { url: `${signal.url}/elsewhere` }))[0], /is no signal-cli-rest-api/)
  signal.set({ token: 'right' })
  assert.match((await check(LINE, { url: signal.url, token: 'wrong' }))[0], /proxy answered 401/)
  assert.deepEqual(await check(LINE, { url: signal.url, token: 'right' }), [])
  signal.set({ token: '', mode: 'json-rpc' })
  assert.match((await check(LINE, { url: signal.url }))[0], /json-rpc/)
  signal.set({ mode: 'native' })
  await assert.rejects(check(LINE, { url: 'signal' }), /url/)
})
