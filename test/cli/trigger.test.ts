import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TRIGGERS } from '../../src/cli/sim/triggers.js'
import { WEBHOOK_TYPES, webhookTypeOf } from '../../src/core/webhooks/types.js'
import { runCli } from '../support/cli.js'
import { eventually } from '../support/server.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, createWorld, credentials, type Json, LINE, type Who, type World } from '../support/world.js'

describe('trunkline trigger', () => {
  let world: World
  let sink: Sink
  const cli = (...args: string[]) => runCli(['trigger', ...args], { TRUNKLINE_URL: world.app.url() })
  const ask = async (path: string, as: Who = 'live', method = 'GET', body?: object): Promise<Json> => {
    const json = body ? { 'content-type': 'application/json' } : {}
    const headers = { ...credentials(as), ...json } as Record<string, string>
    const reply = await fetch(world.app.url() + path, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return reply.json()
  }
  beforeAll(async () => {
    world = await createWorld('sqlite', { realTime: true })
    sink = await createSink()
    const webhooks = Object.fromEntries(WEBHOOK_TYPES.map((type) => [type, [`${sink.url}/${type}`]]))
    await ask('/api/account/webhooks', 'live', 'PUT', { webhooks })
  })
  afterAll(async () => {
    await world.close()
    await sink.close()
  })

  it('has one for every type of webhook, and lists them', async () => {
    const covered = TRIGGERS.flatMap(({ event }) => webhookTypeOf(event) ?? [])
    expect(new Set(covered)).toEqual(new Set(WEBHOOK_TYPES))
    const listed = JSON.parse((await cli('--list', '--json')).stdout)
    expect(listed.map((one: Json) => one.event)).toEqual(TRIGGERS.map(({ name }) => name))
    expect((await cli('--list')).stdout).toMatch(/^message\.received +receive +a phone writes to the line$/m)
  })

  it('makes each of them happen, so that its receiver gets it, and leaves nothing behind', async () => {
    const state = async () => ({
      lines: (await ask('/admin/lines', 'admin')).data.map((one: Json) => one.number),
      contacts: (await ask('/api/v2/contacts')).map((one: Json) => one.phone),
      forwarding: await ask(`/api/lines/${encodeURIComponent(LINE)}/call-forwarding`),
      profile: (await ask(`/api/v2/contact-sharing/state?from_number=${encodeURIComponent(LINE)}`)).data,
      shares: (await ask(`/sim/phones/${encodeURIComponent(ADA)}/location`)).data,
    })
    // A person who writes becomes a contact.
    await cli('message.received', '--from', ADA)
    await cli('message.failed')
    await cli('message.downgraded')
    const before = await state()
    for (const { name, event } of TRIGGERS) {
      const webhook = webhookTypeOf(event) ?? null
      const already = sink.received.length
      const ran = await cli(name, '--json')
      expect([name, ran.code, ran.stderr]).toEqual([name, 0, ''])
      const told = JSON.parse(ran.stdout)
      expect(told).toMatchObject({ triggered: name, webhook, type: event })
      if (webhook === null) continue
      const posts = await eventually(
        async () => sink.received.slice(already),
        (all) => all.some((one) => Number(one.headers['x-trunkline-sequence']) === told.sequence),
      )
      const post = posts.find((one) => Number(one.headers['x-trunkline-sequence']) === told.sequence)!
      expect([name, post.path]).toEqual([name, `/${webhook}`])
    }
    expect(await state()).toEqual(before)
  })

  it('says what was asked for, from whom it was asked', async () => {
    const ran = await cli(
      'message.received',
      '--from',
      '+1 (202) 555-0101',
      '--text',
      'Is it ready?',
      '--json',
    )
    expect(JSON.parse(ran.stdout).data).toMatchObject({
      from_number: ADA,
      to_number: LINE,
      content: 'Is it ready?',
    })
    const words = await cli('message.delivered', '--from', ADA)
    expect(words.stdout).toMatch(/^triggered +message\.delivered\nwebhook +outbound\n/)
  })

  it('ends with 2 and a reason, or 1 and a reason', async () => {
    const failing: [string[], number, RegExp][] = [
      [[], 2, /^Give one event; list them with trunkline trigger --list/],
      [['message.lost'], 2, /^There is no event "message\.lost"\. Use message\.received, /],
      [['message.received', '--from', 'Ada'], 2, /^--from must be a phone number/],
      [['message.received', '--line', '+12025550155'], 1, /./],
      [['typing', '--url', 'http://127.0.0.1:1'], 1, /^No server answers/],
    ]
    for (const [args, code, words] of failing) {
      const ran = await cli(...args)
      expect([args, ran.code, ran.stdout]).toEqual([args, code, ''])
      expect(ran.stderr).toMatch(words)
    }
    const env = {
      TRUNKLINE_URL: world.app.url(),
      TRUNKLINE_API_KEY_ID: 'dev-live-key',
      TRUNKLINE_API_SECRET_KEY: 'dev-live-secret',
    }
    const without = await runCli(['trigger', 'line.blocked'], env)
    expect([without.code, without.stderr]).toEqual([1, expect.stringMatching(/admin/i)])
  })
})
