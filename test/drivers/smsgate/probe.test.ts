import { afterEach, describe, expect, it } from 'vitest'
import { createSmsGate, type SmsGate } from '../../peers/smsgate/smsgate.js'
import { createWorld, type World } from '../../support/world.js'

describe('the test of a line on a phone', () => {
  let phone: SmsGate
  let world: World
  afterEach(async () => {
    await world.close()
    await phone.close()
  })

  async function probe(change: (phone: SmsGate) => unknown = () => {}, settings: object = {}) {
    phone = await createSmsGate({ password: 'canary-password' })
    await change(phone)
    world = await createWorld('sqlite', { isReal: true, realTime: true })
    const config = { url: phone.url, username: phone.username, password: phone.password, ...settings }
    const body = { driver: 'smsgate', number: '+12025550180', config }
    const reply = await world.post('/admin/lines/test', body, 'admin')
    expect(JSON.stringify(reply.body)).not.toContain('canary')
    const own = reply.body.findings.filter(
      ({ what }: { what: string }) => !/leads to this server$/.test(what),
    )
    expect(own.length).toBe(reply.body.findings.length - 1)
    return own.map(({ ok, what, advice }: Record<string, string>) =>
      [ok ? 'ok' : 'no', what, ...(advice ? [advice] : [])].join(' | '),
    )
  }

  it('tells what it will set, and sets nothing', async () => {
    expect(await probe()).toEqual([
      'ok | The phone answers and knows the password',
      'ok | The app sends the newest text first; Trunkline sets it to keep the order',
      'ok | The app waits for the internet before it reports news; Trunkline switches that off',
      'ok | The phone has SIM 1, Tello',
    ])
    expect(phone.heard.every((route) => route.startsWith('GET'))).toBe(true)
  })

  it.each<[string, string, (phone: SmsGate) => unknown, object]>([
    [
      'a wrong password',
      'no | The phone rejects the user name or password',
      () => {},
      { password: 'canary' },
    ],
    ['a phone that is away', 'no | The phone does not answer', (phone) => phone.stop(), {}],
    [
      'another program at the address',
      'no | Something else than SMSGate answers',
      (phone) => phone.fault('GET /health', 'html'),
      {},
    ],
    ['a SIM that is not there', 'no | The phone has no SIM 2', () => {}, { sim: 2 }],
    [
      'another number',
      'no | SIM 1 has another number than the line',
      (phone) => phone.setSims([{ simNumber: 1, phoneNumber: '+12025559999' }]),
      {},
    ],
    [
      'an old version',
      'no | This version of the app does not keep texts in order',
      (phone) => Reflect.deleteProperty(phone.settings.messages, 'processing_order'),
      {},
    ],
    [
      'a limit of the app',
      'ok | The app itself sends at most 5 texts (PerHour)',
      (phone) => Object.assign(phone.settings.messages, { limit_period: 'PerHour', limit_value: 5 }),
      {},
    ],
  ])('finds %s', async (_what, words, change, settings) => {
    expect((await probe(change, settings)).join('\n')).toContain(words)
  })
})
