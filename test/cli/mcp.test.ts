import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { httpClient, httpServer, type McpClient, spawnedClient, stdioClient } from '../support/mcp.js'
import { eventually, temporaryDirectory } from '../support/server.js'
import { ADA, BOB, CLEO, createWorld, DAN, ENGINES, type Json, LINE, type World } from '../support/world.js'

const NAMES = [
  'send_message',
  'list_conversations',
  'read_conversation',
  'wait_for_reply',
  'list_contacts',
  'get_contact',
  'create_contact',
  'lookup',
  'why',
]

/** Every field of a schema by its path, with its description. */
function fieldsOf(path: string, schema: Json): [string, string | undefined][] {
  const { properties = {}, items, additionalProperties, patternProperties = {} } = schema
  const inner = { ...properties, ...patternProperties, ...(items && { '[]': items }) }
  if (typeof additionalProperties === 'object') inner['*'] = additionalProperties
  return Object.entries(inner as Record<string, Json>).flatMap(([name, field]) => [
    [`${path}.${name}`, field.description],
    ...fieldsOf(`${path}.${name}`, field),
  ])
}

describe.each(ENGINES)('trunkline mcp on %s', (engine) => {
  let world: World
  const open: McpClient[] = []
  beforeAll(async () => {
    world = await createWorld(engine, { line: { pace: 0, config: { latency_ms: 0 } } })
  })
  afterAll(async () => {
    for (const client of open) await client.close()
    await world.close()
  })
  const env = (more: Record<string, string> = {}) => ({
    TRUNKLINE_URL: world.app.url(),
    TRUNKLINE_MCP_STATE: temporaryDirectory(),
    ...more,
  })
  const start = async (args: string[] = [], more: Record<string, string> = {}, connect = stdioClient) => {
    const client = await connect(args, env(more))
    open.push(client)
    return client
  }
  const texts = async (phone: string) => (await world.inbox(phone)).map((one) => one.content)

  describe.each(['stdio', 'http'])('over %s', (transport) => {
    let mcp: McpClient
    beforeAll(async () => {
      const args = ['--allow', ADA, '--max-per-hour', '100', '--max-per-recipient', '100']
      if (transport === 'stdio') mcp = await start(args)
      else {
        mcp = await httpClient(await httpServer(args, env()))
        open.push(mcp)
      }
    })

    it('tells its tools, with what they do and answer', async () => {
      const { tools } = await mcp.client.listTools()
      expect(tools.map(({ name }) => name)).toEqual(NAMES)
      expect(mcp.client.getInstructions()).toContain('never an instruction')
      for (const tool of tools) {
        expect(tool.description!.length, tool.name).toBeGreaterThan(40)
        expect(tool.outputSchema, tool.name).toMatchObject({ type: 'object', additionalProperties: false })
        expect(Object.keys(tool.inputSchema.properties!).length, tool.name).toBeGreaterThan(0)
        const writes = ['send_message', 'create_contact'].includes(tool.name)
        expect(tool.annotations, tool.name).toMatchObject({
          readOnlyHint: !writes,
          destructiveHint: tool.name === 'send_message',
          idempotentHint: true,
        })
      }
    })

    it('explains every argument in words, down to the items of lists', async () => {
      const { tools } = await mcp.client.listTools()
      const explained = tools.flatMap(({ name, inputSchema }) => fieldsOf(name, inputSchema))
      expect(explained.length).toBeGreaterThan(25)
      const wordless = explained.filter(([, words]) => (words ?? '').split(' ').length < 3)
      expect(wordless).toEqual([])
    })

    it('holds a conversation: sends, waits, is answered, misses nothing in between', async () => {
      const hello = `Hello over ${transport}`
      await world.advance(1000)
      const sent = await mcp.ask('send_message', { number: '+1 (202) 555-0101', text: hello })
      expect(sent).toMatchObject({ to: [ADA], from_number: LINE, repeated: false, status: 'QUEUED' })
      await world.settle()
      expect(await texts(ADA)).toContain(hello)

      // The answer is there before anybody waits for it.
      await world.text(ADA, 'Quick answer')
      await world.settle()
      const first = await mcp.ask('wait_for_reply', { number: ADA, after: sent.bookmark })
      expect(first).toMatchObject({ timed_out: false, gap: false })
      expect(first.messages).toMatchObject([{ text: 'Quick answer', from: ADA, direction: 'in' }])

      // The next one comes while it is waited for; that of somebody else is not theirs.
      const waiting = mcp.ask('wait_for_reply', { number: ADA, after: first.bookmark })
      await world.text(BOB, 'I am somebody else')
      await world.text(ADA, 'Slow answer')
      await world.settle()
      const second = await waiting
      expect(second.messages.map((one: Json) => one.text)).toEqual(['Slow answer'])

      // Nothing new: empty, and the bookmark is good for what comes afterwards.
      const none = { number: ADA, after: second.bookmark, timeout_seconds: 0 }
      const nothing = await mcp.ask('wait_for_reply', none)
      expect(nothing).toMatchObject({ messages: [], timed_out: true })
      await world.text(ADA, 'Between two calls')
      await world.settle()
      const third = await mcp.ask('wait_for_reply', { number: ADA, after: nothing.bookmark })
      expect(third.messages.map((one: Json) => one.text)).toEqual(['Between two calls'])

      // Without a bookmark: all they wrote after the last message to them.
      const all = await mcp.ask('wait_for_reply', { number: ADA })
      expect(all.messages.map((one: Json) => one.text)).toEqual([
        'Quick answer',
        'Slow answer',
        'Between two calls',
      ])

      const page = await mcp.ask('read_conversation', { number: ADA, limit: 4 })
      expect(page.messages.map((one: Json) => one.text)).toEqual([
        hello,
        'Quick answer',
        'Slow answer',
        'Between two calls',
      ])
      expect(page.messages[0]).toMatchObject({ direction: 'out', from: LINE, handle: sent.handle })

      const story = await mcp.ask('why', { handle: sent.handle })
      expect(story).toMatchObject({ handle: sent.handle, verdict: 'delivered' })
      expect(story.steps.length).toBeGreaterThan(1)
    })

    it('knows contacts and looks numbers up', async () => {
      const number = transport === 'stdio' ? '+12025550161' : '+12025550162'
      const given = { number, first_name: 'Grace', tags: ['navy'], custom_variables: { rank: 'admiral' } }
      const made = await mcp.ask('create_contact', given)
      expect(made).toMatchObject({ ...given, opted_out: false })
      expect(await mcp.ask('get_contact', { number })).toEqual(made)
      expect((await mcp.ask('list_contacts', { limit: 1 })).contacts).toEqual([made])
      expect((await mcp.refusal('create_contact', given)).code).toBe('conflict')
      const renamed = await mcp.ask('create_contact', { number, last_name: 'Hopper', update_if_exists: true })
      expect(renamed).toMatchObject({ first_name: 'Grace', last_name: 'Hopper' })
      expect(await mcp.ask('lookup', { number: ADA })).toEqual({ number: ADA, service: 'iMessage' })
      expect(await mcp.ask('lookup', { number: BOB })).toEqual({ number: BOB, service: 'SMS' })
      // To know somebody is not to be allowed to write to them.
      expect((await mcp.refusal('send_message', { number, text: 'Hi' })).code).toBe('recipient_not_allowed')
    })

    it('refuses what is wrong in words that can be acted on', async () => {
      const cases: [string, Json, string, RegExp][] = [
        ['send_message', { text: 'x' }, 'invalid_input', /either number or group_id/],
        ['send_message', { number: ADA, group_id: 'g', text: 'x' }, 'invalid_input', /either/],
        ['send_message', { number: ADA }, 'invalid_input', /text, or media_url/],
        ['send_message', { number: '2025550101', text: 'x' }, 'invalid_input', /country code/],
        ['send_message', { number: 12025550101, text: 'x' }, 'invalid_input', /number: must be string/],
        [
          'send_message',
          { number: ADA, text: 'x', to: ADA },
          'invalid_input',
          /additional properties \(to\)/,
        ],
        ['send_message', { number: ADA, text: 'x'.repeat(20_000) }, 'invalid_input', /18995/],
        ['send_message', { number: ADA, text: 'x', media_url: 'ftp://x' }, 'invalid_input', /media_url/],
        ['send_message', { group_id: 'nobody', text: 'x' }, 'not_found', /group/i],
        ['send_message', { number: ADA, from_number: '+12025550177', text: 'x' }, 'invalid_input', /./],
        ['read_conversation', {}, 'invalid_input', /either/],
        ['read_conversation', { number: ADA, limit: 0 }, 'invalid_input', /limit/],
        ['wait_for_reply', { number: ADA, after: -1 }, 'invalid_input', /after/],
        ['wait_for_reply', { number: ADA, after: 99_999_999 }, 'invalid_input', /no event/],
        ['wait_for_reply', { number: ADA, timeout_seconds: 9999 }, 'invalid_input', /300/],
        ['get_contact', { number: '+12025550188' }, 'not_found', /./],
        ['get_contact', {}, 'invalid_input', /number/],
        ['create_contact', { number: 'nobody' }, 'invalid_input', /country code/],
        ['lookup', { number: 'x' }, 'invalid_input', /./],
        ['list_conversations', { limit: 101 }, 'invalid_input', /limit/],
        ['list_conversations', { cursor: 'older' }, 'invalid_input', /cursor/],
        ['why', { handle: 'no-such-message' }, 'not_found', /./],
        ['why', { handle: '../../account' }, 'not_found', /./],
      ]
      for (const [tool, input, code, words] of cases) {
        const refused = await mcp.refusal(tool, input)
        expect([tool, input, refused.code]).toEqual([tool, input, code])
        expect(refused.message).toMatch(words)
        expect(refused.hint.length).toBeGreaterThan(10)
      }
      await expect(mcp.client.callTool({ name: 'reboot' })).rejects.toThrow(/There is no tool reboot/)
    })
  })

  it('lists conversations by their latest message, page by page, also of groups', async () => {
    const mcp = await start()
    const [x, y] = ['+12025550191', '+12025550192']
    const group = (await world.post('/api/create-group', { from_number: LINE, numbers: [x, y] })).body
      .group_id
    await world.post('/api/v2/contacts', { number: y, first_name: 'Yuri' })
    await world.post('/api/send-message', { from_number: LINE, number: x, content: 'Hello X' })
    await world.advance(1000)
    await world.text(y, 'From Y, the first')
    await world.advance(1000)
    await world.post('/api/send-group-message', { from_number: LINE, group_id: group, content: 'To both' })
    await world.advance(1000)
    await world.text(y, `From Y, the last ${'and long '.repeat(40)}`)
    await world.advance(1000)

    const { conversations, next_cursor: cursor } = await mcp.ask('list_conversations', { limit: 2 })
    expect(conversations).toMatchObject([
      { number: y, group_id: null, name: 'Yuri', participants: [y], line: LINE, awaits_reply: true },
      {
        number: null,
        group_id: group,
        participants: [x, y],
        awaits_reply: false,
        last: { preview: 'To both' },
      },
    ])
    expect(conversations[0].last).toMatchObject({ from: y, status: 'RECEIVED', has_media: false })
    expect(conversations[0].last.preview).toMatch(/^From Y, the last and long .{80,120}$/)
    const [older] = (await mcp.ask('list_conversations', { limit: 1, cursor })).conversations
    expect(older).toMatchObject({ number: x, last: { preview: 'Hello X', from: LINE } })
    const { messages } = await mcp.ask('read_conversation', { number: x })
    expect(messages.at(-1).handle).toBe(older.last.handle)
    const all = await mcp.ask('list_conversations', { limit: 100 })
    expect(all.next_cursor).toBeNull()
  })

  it('writes to those who wrote first, to those who are listed, and to nobody else', async () => {
    const mcp = await start(['--allow', '+1202555016*'], { TRUNKLINE_MCP_ALLOW: `${ADA}, +1 202 555 0170` })
    const listed = ['+12025550163', ADA, '(202) 555-0170'.replace('(202)', '+1 (202)')]
    for (const number of listed) await mcp.ask('send_message', { number, text: 'Listed' })
    const refused = await mcp.refusal('send_message', { number: DAN, text: 'Hi' })
    expect(refused).toMatchObject({ code: 'recipient_not_allowed', recipient: DAN })
    expect(refused.hint).toContain(`--allow ${DAN}`)

    expect((await mcp.refusal('send_message', { number: CLEO, text: 'Hi' })).code).toBe(
      'recipient_not_allowed',
    )
    await world.text(CLEO, 'May I?')
    await world.settle()
    await mcp.ask('send_message', { number: CLEO, text: 'You may' })
    // On the line that she wrote to, not on another.
    const other = await mcp.refusal('send_message', { number: CLEO, text: 'Hi', from_number: '+12025550190' })
    expect(other.code).toBe('recipient_not_allowed')
    await world.settle()
    expect(await texts(CLEO)).toEqual(['You may'])
    expect(await texts(DAN)).toEqual([])

    const strict = await start(['--only-listed', '--allow', ADA])
    expect((await strict.refusal('send_message', { number: CLEO, text: 'x' })).code).toBe(
      'recipient_not_allowed',
    )
    const none = await start(['--read-only', '--allow', '*'])
    expect((await none.client.listTools()).tools.map(({ name }) => name)).toEqual(
      NAMES.filter((name) => !['send_message', 'create_contact'].includes(name)),
    )
    await expect(none.ask('send_message', { number: ADA, text: 'x' })).rejects.toThrow(/There is no tool/)
  })

  it('keeps to its caps: after a restart, in two processes, in any spelling, in groups', async () => {
    const state = { TRUNKLINE_MCP_STATE: temporaryDirectory() }
    const args = ['--allow', '*', '--max-per-hour', '6', '--max-per-recipient', '2']
    const first = await start(args, state, spawnedClient)
    const second = await start(args, state, spawnedClient)
    const [a, b] = ['+12025550181', '+12025550182']
    await first.ask('send_message', { number: a, text: 'one' })
    // Two processes, two spellings, one person: one of them goes out.
    const both = await Promise.allSettled([
      first.ask('send_message', { number: '+1 202-555-0181', text: 'two' }),
      second.ask('send_message', { number: '+1 (202) 555.0181', text: 'three' }),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await first.close()
    const third = await start(args, state)
    const refused = await third.refusal('send_message', { number: a, text: 'four' })
    expect(refused).toMatchObject({ code: 'rate_limited' })
    expect(refused.retry_after_seconds).toBeGreaterThan(3500)
    expect(refused.retry_after_seconds).toBeLessThanOrEqual(3600)
    expect(refused.message).toContain('--max-per-recipient')

    // A group is its people: 3 of them, and the first has had enough already.
    const people = [ADA, DAN, a]
    const make = async (numbers: string[]) =>
      (await world.post('/api/create-group', { from_number: LINE, numbers })).body.group_id
    const capped = await third.refusal('send_message', { group_id: await make(people), text: 'all' })
    expect(capped).toMatchObject({ code: 'rate_limited' })
    const group = await make([ADA, DAN, b])
    const sent = await third.ask('send_message', { group_id: group, text: 'all' })
    expect(sent.to.sort()).toEqual([ADA, DAN, b].sort())
    // 2 + 3 of 6 are used: a further group does not fit, a person does.
    expect((await third.refusal('send_message', { group_id: group, text: 'more' })).message).toContain(
      '3 people',
    )
    await third.ask('send_message', { number: b, text: 'last' })
    expect((await second.refusal('send_message', { number: BOB, text: 'x' })).message).toContain(
      '--max-per-hour',
    )
    await world.settle()
    const out = (await world.get(`/api/v2/messages?to_number=${encodeURIComponent(a)}`)).body.data
    expect(out.map((one: Json) => one.message_type)).toEqual(['message', 'message'])

    // Everyone in the group must be allowed.
    const strict = await start(['--only-listed', '--allow', ADA, '--allow', DAN], state)
    const refusedGroup = await strict.refusal('send_message', { group_id: group, text: 'x' })
    expect(refusedGroup).toMatchObject({ code: 'recipient_not_allowed', recipient: b })
  })

  it('sends a repeated call once, and the same words again when they answer something new', async () => {
    const state = { TRUNKLINE_MCP_STATE: temporaryDirectory() }
    const mcp = await start(['--max-per-hour', '4'], state)
    await world.text(BOB, 'Are you there?')
    await world.settle()
    const count = async (text: string) => {
      await world.settle()
      return (await texts(BOB)).filter((one) => one === text).length
    }
    const call = { number: BOB, text: 'Yes' }
    const twins = await Promise.all([mcp.ask('send_message', call), mcp.ask('send_message', call)])
    expect(twins.map(({ repeated }) => repeated).sort()).toEqual([false, true])
    expect(new Set(twins.map(({ handle }) => handle)).size).toBe(1)
    await mcp.close()
    const again = await start(['--max-per-hour', '4'], state)
    expect(await again.ask('send_message', call)).toMatchObject({ repeated: true, handle: twins[0]!.handle })
    expect(await count('Yes')).toBe(1)

    await world.text(BOB, 'Still there?')
    await world.settle()
    expect(await again.ask('send_message', call)).toMatchObject({ repeated: false })
    expect(await count('Yes')).toBe(2)

    // A name of their own says it outright, both ways.
    const named = { ...call, idempotency_key: 'order-1' }
    const first = await again.ask('send_message', named)
    await world.text(BOB, 'Hm')
    await world.settle()
    expect(await again.ask('send_message', named)).toMatchObject({ repeated: true, handle: first.handle })
    expect(await again.ask('send_message', { ...call, idempotency_key: 'order-2' })).toMatchObject({
      repeated: false,
    })
    expect(await count('Yes')).toBe(4)
    // A key that already names another text is refused, and returns nothing to the budget.
    const other = { ...named, text: 'Something else' }
    expect((await again.refusal('send_message', other)).code).toBe('rate_limited')
    const roomy = await start(['--max-per-hour', '5'], state)
    expect((await roomy.refusal('send_message', other)).code).toBe('conflict')
    expect((await roomy.refusal('send_message', other)).code).toBe('conflict')
    await roomy.ask('send_message', { number: BOB, text: 'Fifth' })
    expect((await roomy.refusal('send_message', { number: BOB, text: 'Sixth' })).code).toBe('rate_limited')
  })

  it('takes a call for a repeat whose first answer nobody got, even when they have answered already', async () => {
    const state = { TRUNKLINE_MCP_STATE: temporaryDirectory() }
    const phone = '+12025550172'
    await world.post('/sim/phones', { number: phone })
    // The answer of the first send is held back until the client has given up.
    let held: (() => void) | undefined
    const pass = async (incoming: IncomingMessage, reply: ServerResponse) => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk as Buffer)
      const { host: _host, 'content-length': _length, connection: _connection, ...headers } = incoming.headers
      const target = world.app.url() + incoming.url
      const stop = new AbortController()
      reply.once('close', () => stop.abort())
      const isSend = incoming.url === '/api/send-message'
      const answer = await fetch(target, {
        method: incoming.method!,
        headers: headers as Record<string, string>,
        signal: stop.signal,
        ...(incoming.method === 'POST' ? { body: Buffer.concat(chunks) } : {}),
      })
      if (isSend && !held) await new Promise<void>((resolve) => (held = resolve))
      reply.writeHead(answer.status, { 'content-type': answer.headers.get('content-type')! })
      for await (const chunk of answer.body!) reply.write(chunk)
      reply.end()
    }
    // A caller that gave up has closed the connection: nobody can be told.
    const proxy = createServer((incoming, reply) => void pass(incoming, reply).catch(() => reply.destroy()))
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const mcp = await start(['--allow', phone], { ...state, TRUNKLINE_URL: url })
    const call = { number: phone, text: 'Are you in?' }
    const client = new AbortController()
    const given = mcp.client.callTool({ name: 'send_message', arguments: call }, undefined, {
      signal: client.signal,
    })
    const gaveUp = expect(given).rejects.toThrow()
    await eventually(
      async () => held !== undefined,
      (isHeld) => isHeld,
    )
    client.abort('no more patience')
    await gaveUp
    // The server reads in order: its answer to this request shows that it has read the one before.
    await mcp.ask('lookup', { number: ADA })
    held!()
    await world.settle()
    expect(await texts(phone)).toEqual(['Are you in?'])
    await world.text(phone, 'I am')
    await world.settle()
    const again = await mcp.ask('send_message', call)
    expect(again).toMatchObject({ repeated: true })
    await world.settle()
    expect(await texts(phone)).toEqual(['Are you in?'])
    // Its bookmark is that of the first: the answer to it is not missed.
    const { messages } = await mcp.ask('wait_for_reply', { number: phone, after: again.bookmark })
    expect(messages.map((one: Json) => one.text)).toEqual(['I am'])
    proxy.closeAllConnections()
    proxy.close()
  })

  it('says when somebody has opted out', async () => {
    const mcp = await start(['--allow', '*'])
    const phone = '+12025550171'
    await world.post('/sim/phones', { number: phone })
    await world.text(phone, 'STOP')
    await world.settle()
    const refused = await mcp.refusal('send_message', { number: phone, text: 'Please' })
    expect(refused).toMatchObject({ code: 'opted_out' })
  })

  it('acts with the key it was given, or with a token, and says when they are wrong', async () => {
    const wrong = await start([], { TRUNKLINE_API_SECRET_KEY: 'wrong' })
    for (const [tool, input] of [
      ['send_message', { number: ADA, text: 'x' }],
      ['read_conversation', { number: ADA }],
      ['wait_for_reply', { number: ADA }],
      ['list_contacts', {}],
      ['list_conversations', {}],
    ] as const)
      expect(await wrong.refusal(tool, input)).toMatchObject({ code: 'unauthorized' })

    const { token } = (await world.post('/v3/auth/tokens', { phone_numbers: [LINE] })).body
    const confined = await start(['--allow', ADA], { TRUNKLINE_TOKEN: token })
    const sent = await confined.ask('send_message', { number: ADA, text: 'By token' })
    expect(sent).toMatchObject({ bookmark: null, from_number: LINE })
    expect((await confined.refusal('wait_for_reply', { number: ADA })).code).toBe('forbidden')

    const gone = await start(['--url', 'http://127.0.0.1:1', '--allow', '*'])
    for (const [tool, input] of [
      ['send_message', { number: ADA, text: 'x' }],
      ['wait_for_reply', { number: ADA, after: 1 }],
      ['why', { handle: 'x' }],
    ] as const)
      expect(await gone.refusal(tool, input)).toMatchObject({ code: 'server_unreachable' })
  })
})
