import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import SendblueAPI from 'sendblue'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { milliseconds } from '../../src/testing/duration.js'
import { createTrunkline, type Trunkline, TrunklineError } from '../../src/testing/trunkline.js'
import { createDatabase } from '../support/database.js'
import { endWithUs } from '../support/watchdog.js'
import { ENGINES } from '../support/world.js'

const ADA = '+12025550101'
const START = '2026-03-01T12:00:00.000Z'

function client({ env }: Trunkline) {
  return new SendblueAPI({
    baseURL: env.SENDBLUE_API_BASE_URL,
    apiKey: env.SENDBLUE_API_API_KEY,
    apiSecret: env.SENDBLUE_API_API_SECRET,
  })
}
const send = (world: Trunkline, content: string, number = ADA) =>
  client(world).messages.send({ from_number: world.line, number, content })

describe.each(ENGINES)('createTrunkline on %s', (engine) => {
  let world: Trunkline
  let database: Awaited<ReturnType<typeof createDatabase>> | undefined
  beforeAll(async () => {
    database = engine === 'postgres' ? await createDatabase() : undefined
    world = await createTrunkline({ time: START, databaseUrl: database?.url })
    await world.webhooks.listen()
  })
  afterAll(async () => {
    await world.close()
    await database?.release()
  })

  it('boots a world that the published SDK talks to, and phones see what it sends', async () => {
    const sent = await send(world, 'Your code is 482 913')
    const message = await world.phone(ADA).waitForMessage({ match: /code/i, extract: 'otp' })
    expect(message).toMatchObject({
      content: 'Your code is 482 913',
      extracted: '482913',
      handle: sent.message_handle,
      service: 'iMessage',
      direction: 'in',
      arrivedAt: new Date(START),
    })
    expect(world.now()).toEqual(new Date(START))
  })

  it('forks worlds with the same numbers that share nothing but the time', async () => {
    const [one, two] = await Promise.all([world.fork(), world.fork()])
    await Promise.all([one, two].map((fork) => fork.webhooks.listen('outbound')))
    const before = await world.phone(ADA).inbox()
    await one.setLine({ pace: 1 })
    await Promise.all([send(one, 'From one'), send(two, 'From two')])
    await one.settle()
    for (const [fork, content] of [
      [one, 'From one'],
      [two, 'From two'],
    ] as const) {
      expect((await fork.phone(ADA).inbox()).map((message) => message.content)).toEqual([content])
      expect(new Set(fork.webhooks.received.map(({ body }) => body.content))).toEqual(new Set([content]))
      expect(await fork.eventLog()).toContain('"status":"DELIVERED"')
      expect([fork.line, fork.now()]).toEqual([world.line, world.now()])
    }
    expect(await world.phone(ADA).inbox()).toEqual(before)
    await one.reset()
    expect(await one.phone(ADA).inbox()).toEqual([])
    expect(await two.phone(ADA).inbox()).toHaveLength(1)
    await one.close()
    await expect(one.request('GET', '/api/lines')).rejects.toThrow('401')
    const worlds = await world.request('GET', '/sim/worlds', undefined, world.keys.admin)
    expect(worlds.data).toHaveLength(1)
    await two.close()
  })

  it('gives each message to one wait only, the oldest first, and leaves the others for later waits', async () => {
    const cleo = world.phone('+12025550103')
    for (const content of ['code 1111', 'see https://example.com/a?b=1.', 'code 2222'])
      await send(world, content, cleo.number)
    expect((await cleo.waitForMessage({ extract: 'otp' })).extracted).toBe('1111')
    expect((await cleo.waitForMessage({ extract: /code (\d)/ })).extracted).toBe('2')
    expect((await cleo.waitForMessage({ extract: 'link' })).extracted).toBe('https://example.com/a?b=1')
    await expect(cleo.waitForMessage({ match: 'code', timeout: '30ms' })).rejects.toThrow(
      'No further message matching "code" reached +12025550103 within 30ms. It has 3:\n  "code 1111"',
    )
    await expect(world.phone('+12025550177').waitForMessage({ timeout: '10ms' })).rejects.toThrow(
      'No message reached +12025550177 within 10ms. It has no messages.',
    )
  })

  it('wakes a wait when its message comes', async () => {
    const phone = world.phone('+12025550120')
    const waiting = phone.waitForMessage({ match: 'late' })
    await send(world, 'early', phone.number)
    await send(world, 'late', phone.number)
    expect((await waiting).content).toBe('late')
  })

  it('lets a phone do what a person does, and its receiver hears of it, signed', async () => {
    const phone = world.phone('+12025550121')
    await send(world, 'Lunch?', phone.number)
    const lunch = await phone.waitForMessage()
    await phone.typing()
    await phone.text('Yes', { replyTo: lunch })
    await phone.tapback(lunch, 'love')
    const told = await world.webhooks.waitFor(({ body }) => body.content === 'Yes')
    expect(told).toMatchObject({
      type: 'receive',
      event: 'message.received',
      attempt: 1,
      body: { number: phone.number, sendblue_number: world.line, is_outbound: false },
    })
    new StandardWebhook(world.webhooks.secret).verify(JSON.stringify(told.body), {
      'webhook-id': told.id,
      'webhook-timestamp': told.headers['webhook-timestamp']!,
      'webhook-signature': told.headers['webhook-signature']!,
    })
    const forged = await fetch(`${world.webhooks.url}/receive`, {
      method: 'POST',
      headers: { ...told.headers, 'content-length': '2' },
      body: '{}',
    })
    expect([
      forged.status,
      world.webhooks.received.some(({ body }) => Object.keys(body).length === 0),
    ]).toEqual([401, false])
    await world.webhooks.waitFor('typing_indicator')
    await world.webhooks.waitFor(({ body }) => /^Loved/.test(body.content))
    expect(await phone.read()).toBe(1)
    expect((await phone.conversation()).map(({ content }) => content)).toContain('Yes')
    expect((await phone.inbox()).map(({ content, readAt }) => [content, readAt])).toEqual([
      ['Lunch?', new Date(START)],
    ])
  })

  it('switches phones', async () => {
    const phone = world.phone('+12025550122')
    await phone.set({ iMessage: false, autoReply: 'Later!' })
    await send(world, 'Hello', phone.number)
    expect((await phone.waitForMessage()).service).toBe('SMS')
    await world.webhooks.waitFor(({ body }) => body.content === 'Later!')
    await phone.set({ power: false })
    await send(world, 'Are you there?', phone.number)
    await world.settle()
    expect(await phone.inbox()).toHaveLength(1)
    await phone.set({ power: true })
    await phone.waitForMessage({ match: 'there' })
  })

  it('takes a file that is picked on a phone', async () => {
    const phone = world.phone('+12025550123')
    await phone.text({ content: 'Look', media: { name: 'a.gif', bytes: GIF } })
    const told = await world.webhooks.waitFor(({ body }) => body.content === 'Look')
    expect(Buffer.from(await (await fetch(told.body.media_url)).arrayBuffer())).toEqual(GIF)
  })

  it('fails webhooks when told to, and time brings them again', async () => {
    world.webhooks.clear()
    world.webhooks.fail({ type: 'receive', times: 2, status: 503 })
    await world.phone(ADA).text('Important')
    await world.settle()
    expect(world.webhooks.received.filter(({ type }) => type === 'receive')).toEqual([])
    await world.advance('10m')
    const told = await world.webhooks.waitFor('receive')
    expect(told).toMatchObject({ attempt: 3, body: { content: 'Important' } })
    expect(world.webhooks.failed.map(({ id, attempt }) => [id, attempt])).toEqual([
      [told.id, 1],
      [told.id, 2],
    ])
  })

  it('says what the API says when something is wrong', async () => {
    const error = await world
      .phone(ADA)
      .text('')
      .catch((caught) => caught)
    expect(error).toBeInstanceOf(TrunklineError)
    expect(error).toMatchObject({ status: 400, message: expect.stringContaining('content') })
    expect((await world.request('GET', '/admin/lines', undefined, world.keys.admin)).data).toHaveLength(4)
  })

  it('changes the line', async () => {
    await world.setLine({ config: { latency_ms: 3_600_000 } })
    const phone = world.phone('+12025550124')
    await send(world, 'Slow', phone.number)
    await world.settle()
    expect(await phone.inbox()).toEqual([])
    await world.advance('1h')
    expect(await phone.inbox()).toHaveLength(1)
    await world.setLine({ config: { latency_ms: 0 } })
  })
})

describe('reset', () => {
  it('begins anew: no messages, no webhooks, phones and the line as at first, at the same time', async () => {
    const world = await createTrunkline({ time: START })
    try {
      const bob = world.phone('+12025550102')
      await world.webhooks.listen()
      await world.setLine({ pace: 1, daily_limit: 1 })
      await bob.set({ iMessage: true, name: 'Robert' })
      await send(world, 'code 1234', bob.number)
      await bob.waitForMessage({ extract: 'otp' })
      await send(world, 'Too much for a day', bob.number)
      await world.advance('2h')
      await world.reset()
      expect(await bob.inbox()).toEqual([])
      expect(world.webhooks.received).toEqual([])
      expect(world.now()).toEqual(new Date('2026-03-01T14:00:00.000Z'))
      for (let i = 0; i < 20; i++) await send(world, `code ${4000 + i}`, bob.number)
      await world.settle()
      const inbox = await bob.inbox()
      expect(inbox.map(({ service }) => service)).toEqual(Array(20).fill('SMS'))
      expect((await bob.waitForMessage({ extract: 'otp' })).extracted).toBe('4000')
      expect(world.webhooks.received).toEqual([])
      await world.webhooks.listen('outbound')
      await send(world, 'Heard', bob.number)
      await world.webhooks.waitFor(({ body }) => body.content === 'Heard')
    } finally {
      await world.close()
    }
  })
})

describe('worlds', () => {
  it('beside each other do not disturb each other', async () => {
    const [one, two] = await Promise.all([
      createTrunkline({ time: '2026-01-01T00:00:00Z' }),
      createTrunkline({ time: '2031-01-01T00:00:00Z' }),
    ])
    try {
      await Promise.all([one.webhooks.listen('outbound'), two.webhooks.listen('outbound')])
      const [late, early] = [await send(two, 'Two'), await send(one, 'One')]
      await one.advance('1d')
      await Promise.all([one.settle(), two.settle()])
      expect((await one.phone(ADA).inbox()).map(({ content }) => content)).toEqual(['One'])
      expect((await two.phone(ADA).inbox()).map(({ content }) => content)).toEqual(['Two'])
      expect(one.webhooks.received.every(({ body }) => body.content === 'One')).toBe(true)
      expect([one.now(), two.now()].map((now) => now.getUTCFullYear())).toEqual([2026, 2031])
      // An id tells its own world's time.
      expect(early.message_handle! < late.message_handle!).toBe(true)
    } finally {
      await Promise.all([one.close(), two.close()])
    }
  })

  it('run with the real time when none is given, with faults from the start', async () => {
    const before = Date.now()
    const world = await createTrunkline({ faults: { 'receipt-lost': { count: 1 } } })
    try {
      const now = world.now().getTime()
      const after = Date.now()
      expect([before, now, after].sort()).toEqual([before, now, after])
      const statuses = async () => {
        const sent = [await send(world, 'One'), await send(world, 'Two')]
        await world.phone(ADA).waitForMessage({ match: 'Two' })
        await world.settle()
        return Promise.all(
          sent.map(
            async (one) => (await client(world).messages.getStatus({ handle: one.message_handle! })).status,
          ),
        )
      }
      expect(await statuses()).toEqual(['SENT', 'DELIVERED'])
      await world.reset()
      expect(await statuses()).toEqual(['SENT', 'DELIVERED'])
      await world.fault('receipt-lost')
      await world.fault('receipt-lost', false)
      expect(await statuses()).toEqual(['DELIVERED', 'DELIVERED'])
      await expect(world.fault('bad-weather')).rejects.toThrow('bad-weather')
      await world.advance('2h')
      expect(world.now().getTime()).toBeGreaterThanOrEqual(now + 7_200_000)
      await expect(world.webhooks.waitFor('receive')).rejects.toThrow(
        'No webhook is registered yet. Call webhooks.listen()',
      )
    } finally {
      await world.close()
    }
  })

  it('leave nothing behind: no file, no handle, no word', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-kit-'))
    const script = `
      import { writeSync } from 'node:fs'
      import { createTrunkline } from 'trunkline/testing'
      const world = await createTrunkline()
      await world.webhooks.listen()
      await fetch(world.url + '/api/send-message', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sb-api-key-id': world.keys.live.id, 'sb-api-secret-key': world.keys.live.secret },
        body: JSON.stringify({ from_number: world.line, number: '${ADA}', content: 'Hi' }),
      })
      await world.phone('${ADA}').waitForMessage()
      await world.webhooks.waitFor('outbound')
      await world.close()
      await world.close()
      process.on('exit', () => writeSync(3, JSON.stringify({ left: process.getActiveResourcesInfo() })))
      setTimeout(() => process.exit(7), 10_000).unref()`
    const { code, left, stdout, stderr } = await runScript(script, { TMPDIR: folder })
    // The process ended by itself: only its two outputs are open.
    const open = left.filter((name: string) => name !== 'PipeWrap')
    expect({ code, open, stdout, stderr }).toEqual({ code: 0, open: [], stdout: '', stderr: '' })
    expect(readdirSync(folder)).toEqual([])
    rmdirSync(folder)
  })

  it('that cannot be say why and leave nothing behind', async () => {
    await expect(createTrunkline({ time: 'yesterday' })).rejects.toThrow('not a moment: yesterday')
    await expect(createTrunkline({ databaseUrl: 'mysql://x' })).rejects.toThrow('postgres://')
  })
})

it.each([
  ['2h', 7_200_000],
  ['1d 12h', 129_600_000],
  ['1.5s', 1500],
  ['250ms', 250],
])('%j is %d ms', (time, ms) => expect(milliseconds(time)).toBe(ms))

it.each(['', 'soon', '2', '2 weeks', '2hours', '-1s', 5000, Number.NaN])('%j is no time', (time) => {
  expect(() => milliseconds(time as string)).toThrow('Not a time with a unit')
})

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

/** Runs a module in a process of its own; what it says, and what it hands over through its file 3. */
async function runScript(script: string, env: Record<string, string>) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  endWithUs(child)
  const [, stdout, stderr, told] = child.stdio as Readable[]
  const [said, complained, result] = await Promise.all([text(stdout!), text(stderr!), text(told!)])
  return {
    code: child.exitCode ?? (await once(child, 'exit'))[0],
    stdout: said,
    stderr: complained,
    ...JSON.parse(result || '{}'),
  }
}
