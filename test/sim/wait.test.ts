import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, BOB, createWorld, ENGINES, type Json, LINE, type World } from '../support/world.js'

describe.each(ENGINES)('waiting for a message on %s', (engine) => {
  let world: World
  let last = 0
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  /** A number of its own for each test. */
  const newPhone = () => `+1202555${3000 + last++}`
  const inbox = async (phone: string, query: Record<string, string | number> = {}, as?: 'test') => {
    const text = new URLSearchParams(query as Record<string, string>)
    return world.get(`/sim/phones/${encodeURIComponent(phone)}/inbox?${text}`, as)
  }
  const arrive = async (fields: Json) => {
    await world.send(fields)
    await world.advance(1000)
  }
  /** Whether an answer is there already. */
  const isOpen = async (answer: Promise<unknown>) =>
    (await Promise.race([answer, world.settle().then(() => 'open')])) === 'open'

  it('answers as soon as a message that matches is on the screen', async () => {
    const number = newPhone()
    const answer = inbox(number, { wait: '60s', match: 'code', extract: 'otp' })
    await arrive({ number, content: 'Hello' })
    expect(await isOpen(answer)).toBe(true)
    await world.send({ number, content: 'Your code is 482-913' })
    await world.settle()
    expect(await isOpen(answer)).toBe(true)
    await world.advance(1000)
    // Woken, not found by looking now and then.
    expect(await isOpen(answer)).toBe(false)
    const { status, body } = await answer
    expect(status).toBe(200)
    expect(body).toMatchObject({
      extracted: '482913',
      matched: { content: 'Your code is 482-913', direction: 'in', line: LINE },
      data: [{ content: 'Hello' }, { content: 'Your code is 482-913' }],
    })
    expect(body.matched).toEqual(body.data[1])
  })

  it('wakes everybody who waits, each for its own', async () => {
    const [first, second] = [newPhone(), newPhone()]
    const answers = [
      inbox(first, { wait: '60s' }),
      inbox(first, { wait: '60s', match: '^B' }),
      inbox(second, { wait: '60s' }),
    ]
    await arrive({ number: first, content: 'A' })
    expect((await answers[0]!).body.matched.content).toBe('A')
    expect(await isOpen(answers[1]!)).toBe(true)
    await arrive({ number: first, content: 'B' })
    expect((await answers[1]!).body.matched.content).toBe('B')
    expect(await isOpen(answers[2]!)).toBe(true)
    await arrive({ number: second, content: 'C' })
    expect((await answers[2]!).body.matched.content).toBe('C')
  })

  it('sees text messages too, of which no carrier reports the delivery', async () => {
    const answer = inbox(BOB, { wait: '60s', match: 'by SMS' })
    await arrive({ number: BOB, content: 'This goes by SMS' })
    expect((await answer).body.matched).toMatchObject({ service: 'SMS' })
  })

  it('gives the newest at once, and with its cursor what came later, in order, each once', async () => {
    const number = newPhone()
    await arrive({ number, content: 'Code 1111' })
    await arrive({ number, content: 'Code 2222' })
    const { body } = await inbox(number, { wait: '60s', extract: 'otp' })
    expect(body.extracted).toBe('2222')
    const next = inbox(number, { wait: '60s', extract: 'otp', after: body.cursor })
    await arrive({ number, content: 'No number in here, no match' })
    expect(await isOpen(next)).toBe(true)
    await arrive({ number, content: 'Code 3333' })
    const third = (await next).body
    expect(third.extracted).toBe('3333')
    for (const content of ['Code 4444', 'Nothing here', 'Code 5555']) await arrive({ number, content })
    let { cursor } = third
    for (const code of ['4444', '5555', null]) {
      // The list in the answer has another limit than the search, and its cursor must not depend on it.
      const { body } = await inbox(number, { wait: '10ms', extract: 'otp', limit: '1', after: cursor })
      expect(body.extracted).toBe(code)
      cursor = body.cursor
    }
    expect((await inbox(number, { wait: '10ms', after: cursor })).body.matched).toBeNull()
  })

  it('nothing in time: 200, matched and extracted are null', async () => {
    const number = newPhone()
    for (const query of [
      { wait: '0' },
      { wait: '20ms' },
      { wait: '0.02s' },
      { wait: 0 },
      { match: 'x' },
      { extract: 'otp' },
    ] as Record<string, string>[]) {
      const { status, body } = await inbox(number, query)
      expect([query, status, body]).toEqual([
        query,
        200,
        { data: [], cursor: 0, typing: [], matched: null, extracted: null },
      ])
    }
    expect((await inbox(number)).body).toEqual({ data: [], cursor: 0, typing: [] })
  })

  it('extracts a link, and the first group of the pattern or all of it', async () => {
    const number = newPhone()
    await arrive({ number, content: 'Order AB-17 is here: https://acme.example/o/17.' })
    const extracted = async (query: Record<string, string>) => (await inbox(number, query)).body.extracted
    expect(await extracted({ extract: 'link' })).toBe('https://acme.example/o/17')
    expect(await extracted({ extract: 'regex', match: 'Order (\\S+)' })).toBe('AB-17')
    expect(await extracted({ extract: 'regex', match: 'AB-\\d+' })).toBe('AB-17')
    expect(await extracted({ match: 'Order (\\S+)' })).toBeNull()
    expect((await inbox(number, { match: 'Order' })).body.matched.content).toMatch(/^Order AB-17/)
    expect((await inbox(number, { match: 'order' })).body.matched).toBeNull()
  })

  it('shows one direction, and waits for what came in unless told otherwise', async () => {
    const number = newPhone()
    await world.text(number, 'Hi from me')
    await arrive({ number, content: 'Hi from you' })
    const contents = async (query: Record<string, string>) =>
      (await inbox(number, query)).body.data.map((message: Json) => message.content)
    expect(await contents({ direction: 'in' })).toEqual(['Hi from you'])
    expect(await contents({ direction: 'out' })).toEqual(['Hi from me'])
    expect((await inbox(number, { match: 'me' })).body.matched).toBeNull()
    expect((await inbox(number, { match: 'me', direction: 'out' })).body.matched.content).toBe('Hi from me')
    const answer = inbox(number, { wait: '60s', direction: 'out', match: 'again' })
    await world.text(number, 'Hi again')
    await world.settle()
    expect((await answer).body.matched.content).toBe('Hi again')
  })

  it('lets 200 requests of an account wait at once', async () => {
    const number = newPhone()
    const answers = Array.from({ length: 201 }, () => inbox(number, { wait: '60s' }))
    expect(await Promise.race(answers)).toMatchObject({ status: 429 })
    await arrive({ number, content: 'At last' })
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(200)
  })

  it('does not see what another account got', async () => {
    const answer = inbox(ADA, { wait: '50ms' }, 'test')
    await arrive({ number: ADA, content: 'For the live world' })
    expect((await answer).body.matched).toBeNull()
  })

  it('refuses what it cannot do, and patterns that would never end', async () => {
    const number = newPhone()
    await arrive({ number, content: 'a'.repeat(100) })
    const bad: [Record<string, string>, RegExp][] = [
      [{ wait: '61s' }, /^wait: must be .* at most 60s/],
      [{ wait: '60001' }, /^wait: /],
      [{ wait: '-1' }, /^wait: /],
      [{ wait: 'soon' }, /^wait: /],
      [{ match: '(' }, /^match: is not a regular expression/],
      [{ match: 'a'.repeat(201) }, /^match: at most 200 characters/],
      [{ match: '(a+)+$b' }, /^match: takes too long/],
      [{ match: '(a|a)*b' }, /^match: takes too long/],
      [{ match: 'a*a*a*a*a*a*a*a*b' }, /^match: takes too long/],
      [{ extract: 'regex' }, /^missing required parameter: match/],
      [{ extract: 'code' }, /^extract/],
      [{ direction: 'up' }, /^direction/],
    ]
    for (const [query, words] of bad) {
      const { status, body } = await inbox(number, query)
      expect([query, status]).toEqual([query, 400])
      expect(body.error.message).toMatch(words)
    }
    expect((await world.get(`/sim/phones/${number}/inbox?match=a&match=b`)).status).toBe(400)
  })
})

it('nobody waits for a server that stops', async () => {
  const world = await createWorld('sqlite', { env: { TRUNKLINE_DRAIN_MS: '600000' } })
  const answer = fetch(`${world.app.url()}/sim/phones/${encodeURIComponent(ADA)}/inbox?wait=60s`, {
    headers: { 'sb-api-key-id': 'dev-live-key', 'sb-api-secret-key': 'dev-live-secret' },
  })
  await world.settle()
  await Promise.all([world.close(), answer.catch(() => {})])
})
