import { afterEach, describe, expect, it } from 'vitest'
import { ask, createMacs, eventually, fetched } from '../../support/drivers/bluebubbles.js'
import { ALICE, at, chatOf, contact, PA, text } from '../../support/drivers/bluebubbles-peer.js'

const macs = createMacs()
const { open } = macs
afterEach(macs.close)

describe('transport', () => {
  it('accepts the first of guid, password and token, trimmed, and tells missing from wrong', async () => {
    const mac = await open({ password: 'pass' })
    const get = async (query: string, headers = {}) =>
      fetched(await fetch(`${mac.url}/api/v1/ping?${query}`, { headers }))
    expect((await get('')).body).toEqual({
      status: 401,
      message: 'You are not authorized to access this resource',
      error: { type: 'Authentication Error', message: 'Missing server password!' },
    })
    expect((await get('password=no')).body.error.message).toBe('Unauthorized')
    expect((await get('guid=pass&password=no&token=no')).status).toBe(200)
    expect((await get('guid=no&password=pass')).status).toBe(401)
    expect((await get('token=%20pass%20')).status).toBe(200)
    expect((await get('', { authorization: 'Bearer pass' })).status).toBe(401)
    const swift = await open({ profile: 'swift', password: 'pass' })
    const header = async (authorization: string, query = '') =>
      (await fetch(`${swift.url}/api/v1/ping?${query}`, { headers: { authorization } })).status
    expect(await header('Bearer pass')).toBe(200)
    expect(await header(`Basic ${Buffer.from('anybody:pass').toString('base64')}`)).toBe(200)
    expect(await header('Bearer pass', 'password=no')).toBe(401)
  })

  it('answers in the envelope, without data where there is none, and in plain text for an unknown path', async () => {
    const mac = await open({ faceTimeHelper: true })
    await contact(mac)
    expect((await ask(mac, 'GET ping')).body).toEqual({
      status: 200,
      message: 'Ping received!',
      data: 'pong',
    })
    expect((await ask(mac, `POST chat/${at(chatOf(ALICE))}/typing`)).body).toEqual({
      status: 200,
      message: 'Successfully started typing!',
    })
    const left = await ask(mac, 'POST facetime/leave/x')
    expect([left.status, left.body]).toEqual([201, { status: 201, message: 'No Data' }])
    const unknown = await ask(mac, 'GET nowhere')
    expect([unknown.status, unknown.body, unknown.headers.get('content-type')]).toEqual([
      404,
      'Not Found',
      'text/plain; charset=utf-8',
    ])
    expect((await ask(mac, 'GET ping?pretty')).bytes.toString()).toContain('\n  "status": 200')
    expect((await ask(mac, 'GET message/none')).body).toEqual({
      status: 404,
      message: 'The requested resource was not found',
      error: { type: 'Database Error', message: 'Message does not exist!' },
    })
  })

  it('refuses requests that need the helper, with a reason for each half, wrapped differently in sends', async () => {
    const mac = await open({ helperConnected: false })
    const gate = await ask(mac, 'GET icloud/account')
    expect(gate.body).toEqual({
      status: 500,
      message:
        'Please make sure you have completed the setup for the Private API, and your helper is connected!',
      error: { type: 'iMessage Error', message: 'iMessage Private API Helper is not connected!' },
    })
    mac.phone(ALICE).text('Hello')
    const send = await text(mac, 'Hi')
    expect([send.status, send.body.message, send.body.error.message]).toEqual([
      500,
      'Message Send Error',
      'iMessage Private API Helper is not connected!',
    ])
    mac.flags.privateApi = false
    expect((await ask(mac, 'GET icloud/account')).body.error.message).toBe(
      'iMessage Private API is not enabled!',
    )
    expect((await text(mac, 'Hi')).body.error.message).toBe('iMessage Private API is not enabled!')
    expect(mac.world.sent).toEqual([])
  })

  it('counts any helper as connected, although the FaceTime helper does not answer', async () => {
    const mac = await open({ helperConnected: false, faceTimeHelper: true })
    mac.phone(ALICE).text('Hello')
    expect((await ask(mac, 'GET server/info')).body.data.helper_connected).toBe(true)
    expect((await ask(mac, 'GET icloud/account')).body.error).toEqual({
      type: 'Server Error',
      message: 'Transaction timeout',
    })
    expect((await text(mac, 'Hi')).body.error.message).toBe('Transaction timeout')
  })

  it.each([
    ['message/text', {}, 'The chatGuid field is required.'],
    ['message/text', { chatGuid: 'x', message: 'x', method: 'smoke' }, 'The selected method is invalid.'],
    ['message/text', { chatGuid: 'x', method: PA }, 'The message field must be present (but can be empty).'],
    ['message/text', { chatGuid: 'x', message: 'x', ddScan: 'perhaps' }, 'The ddScan attribute has errors.'],
    ['message/text', { chatGuid: 'x', message: 'x', partIndex: -1 }, 'The partIndex must be at least 0.'],
    ['message/text', { chatGuid: 1, message: 'x' }, 'The chatGuid must be a string.'],
    [
      'message/text',
      { chatGuid: 'x', message: 'x' },
      "A 'tempGuid' is required when sending via AppleScript",
    ],
    [
      'message/text',
      { chatGuid: 'x', message: '', method: PA },
      "A 'message' or 'subject' is required when sending via the Private API",
    ],
    ['message/query', { limit: 1001 }, 'The limit may not be greater than 1000.'],
    ['message/query', { with: 'chat' }, 'The with attribute has errors.'],
    ['message/query', { offset: 'many' }, 'The offset must be a number.'],
    ['message/query', { sort: 'UP' }, 'The selected sort is invalid.'],
    [
      'message/query',
      { where: [{ statement: '1 = 1' }] },
      'The where.0.args field must be present (but can be empty).',
    ],
    ['chat/new', { addresses: [] }, 'The addresses field is required.'],
    ['chat/new', { addresses: ['x'], message: 'x', service: 'RCS' }, 'The selected service is invalid.'],
    ['message/multipart', { chatGuid: 'x', parts: [{ text: 'x' }] }, 'Each part must have a partIndex'],
    [
      'message/multipart',
      { chatGuid: 'x', parts: [{ partIndex: 0, attachment: 'a/b', name: 'b' }] },
      "Attachment 'a/b' does not exist",
    ],
    [
      'message/react',
      { chatGuid: 'x', selectedMessageGuid: 'x', reaction: 'emoji' },
      'The selected reaction is invalid.',
    ],
  ])('refuses a bad %s with the first broken rule only: %j', async (route, body, complaint) => {
    const answer = await ask(await open(), `POST ${route}`, body)
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        status: 400,
        message: "You've made a bad request! Please check your request params & body",
        error: { type: 'Validation Error', message: complaint },
      },
    ])
  })

  it('skips further rules for empty values, and requires an address where the rule does', async () => {
    const mac = await open()
    mac.phone(ALICE).text('Hello')
    expect((await ask(mac, 'POST message/query', { limit: ' ', sort: '', with: [] })).body.data).toHaveLength(
      1,
    )
    const availability = await ask(mac, 'GET handle/availability/imessage')
    expect([availability.status, availability.body.error.message]).toEqual([
      400,
      'The address field is required.',
    ])
    const quality = await ask(mac, 'GET attachment/x/download?quality=poor')
    expect(quality.body.error.message).toBe('The selected quality is invalid.')
  })

  it('injects faults before or after its work', async () => {
    const mac = await open()
    await contact(mac)
    const failed = async (message: string) =>
      text(mac, message).then(
        ({ status }) => status,
        () => 'no answer',
      )
    const route = 'POST /api/v1/message/text'
    mac.fault({ route, kind: 'reset' })
    expect(await failed('reset')).toBe('no answer')
    mac.fault({ route, kind: 'reset', works: true })
    expect(await failed('reset after')).toBe('no answer')
    mac.fault({ route, kind: '500' })
    expect(await failed('500')).toBe(500)
    mac.fault({ route, kind: '504' })
    expect(await failed('504')).toBe(504)
    mac.fault({ route, kind: 'truncated' })
    expect(await failed('truncated')).toBe('no answer')
    mac.fault({ route, kind: 'content-type' })
    const html = await text(mac, 'content-type')
    expect(html.headers.get('content-type')).toBe('text/html')
    mac.fault({ route, kind: 'delay', ms: 5 })
    expect(await failed('delay')).toBe(200)
    const hang = mac.fault({ route, kind: 'hang' })
    const giveUp = new AbortController()
    const url = `${mac.url}/api/v1/message/text?password=secret`
    const hanging = fetch(url, { method: 'POST', signal: giveUp.signal }).catch(() => 'no answer')
    await eventually(() => expect(hang.hits).toBe(1))
    giveUp.abort()
    expect(await hanging).toBe('no answer')
    expect(await failed('well')).toBe(200)
    await eventually(() =>
      expect(mac.phone(ALICE).texts()).toEqual([
        'Hi',
        'reset after',
        '504',
        'truncated',
        'content-type',
        'delay',
        'well',
      ]),
    )
  })
})
