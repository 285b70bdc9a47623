import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ADA,
  BOB,
  CLEO,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  type World,
} from '../support/world.js'

const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }
const good = { from_number: LINE, number: ADA, content: 'Hello' }

/** Texts that look dangerous and must pass unchanged: in, out and back in. */
const texts: [string, string][] = [
  ['a space', ' '],
  ['blanks around', '  a\t\n '],
  ['line ends that forge logs', 'ok\r\n{"level":"error","text":"forged"}\r\n'],
  ['control characters', 'a\u0001\u0008\u001b[31mred\u001b[0m\u007f'],
  ['the replacement character', '\ufffd'],
  ['a byte order mark inside', '\ufeffa\ufeff'],
  ['noncharacters', '\uffff\ufffe\u{10ffff}'],
  ['a family of emoji', '👨‍👩‍👧‍👦🏳️‍🌈👍🏽🇩🇪'],
  ['combining marks, not composed', 'e\u0301 é Z\u0351\u036b\u0343\u036a'],
  ['right-to-left override', '\u202egpj.exe\u202c שלום مرحبا'],
  ['zero-width characters', 'a\u200b\u200c\u200d\u2060b'],
  ['line separators', 'a\u2028b\u2029c\u0085d'],
  ['SQL', `'; drop table messages; -- " \\' $1 :name ? %s`],
  ['LIKE', '%_*?[a-z]'],
  ['HTML', '<script>alert(1)</script>&amp;<img src=x onerror=alert(1)>'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a text that looks like a template is the point
  ['templates', '${7*7} {{7*7}} #{7*7} %{7*7} <%= 7*7 %> %n%x'],
  ['JSON', '{"a":"\\u0000","__proto__":1}'],
  ['words of prototypes', '__proto__ constructor prototype hasOwnProperty'],
  ['backslashes', '\\ \\\\ \\u0000 \\x00 \\n'],
  ['a formula', '=cmd|"/C calc"!A0'],
  ['a path', '../../etc/passwd\\..\\'],
  ['words for nothing', 'null undefined NaN true []'],
  ['18,995 characters', 'x'.repeat(18_995)],
  ['18,995 characters outside the basic plane', '😀'.repeat(18_995)],
]

describe.each(ENGINES)('odd but good sends on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const post = async (payload: unknown, headers: Record<string, string> = JSON_TYPE) => {
    await world.advance(1000)
    const reply = await world.call('POST', '/api/send-message', { headers, body: payload })
    expect(reply.body.error_message ?? null).toBeNull()
    expect(reply.status).toBe(202)
    return reply.body
  }
  const total = async () => (await world.get('/api/v2/messages?limit=1')).body.pagination.total

  it.each(texts)('%s comes back byte by byte', async (_name, content) => {
    const answer = await post({ ...good, content })
    await world.advance(1000)
    const shown = await world.inbox(ADA)
    expect(Buffer.from(answer.content)).toEqual(Buffer.from(content))
    expect((await world.record(answer.message_handle)).content).toBe(content)
    expect((await world.status(answer.message_handle)).content).toBe(content)
    expect((await world.get('/api/v2/messages?limit=1')).body.data[0].content).toBe(content)
    expect(shown.find((message) => message.message_handle === answer.message_handle).content).toBe(content)
  })

  it.each(texts)('%s comes in byte by byte', async (_name, content) => {
    await world.text(CLEO, content)
    await world.advance(1000)
    const newest = await world.get(
      `/api/v2/messages?limit=1&is_outbound=false&number=${encodeURIComponent(CLEO)}`,
    )
    expect(newest.body.data[0]).toMatchObject({ content, is_outbound: false, status: 'RECEIVED' })
  })

  it('the last of two equal names counts, and one message is made', async () => {
    const before = await total()
    const answer = await post(
      `{"content":"first","from_number":"${LINE}","number":"${BOB}","number":"${ADA}","content":"last"}`,
    )
    expect(answer).toMatchObject({ content: 'last', number: ADA })
    expect(await total()).toBe(before + 1)
  })

  it('fields nobody asked for are not stored', async () => {
    const claims = {
      status: 'DELIVERED',
      message_handle: 'mine',
      account_email: 'evil@example.com',
      accountEmail: 'evil@example.com',
      is_outbound: false,
      opted_out: true,
      error_code: 7,
      date_created: '1999-01-01T00:00:00.000Z',
      sender_email: 'evil@example.com',
      plan: 'free',
      service: 'SMS',
      group_id: 'g',
      worker_id: 'w',
      row_id: '5',
    }
    const { message_handle: handle } = await post({ ...good, ...claims })
    expect(handle).not.toBe('mine')
    const record = await world.record(handle)
    for (const [name, value] of Object.entries(claims))
      expect([name, record[name]]).not.toEqual([name, value])
  })

  it('40,000 unknown names are ignored', async () => {
    const extra = Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`field_${i}`, i]))
    expect((await post({ ...good, ...extra })).status).toBe('QUEUED')
  })

  it('32 levels in an unknown field are ignored, and brackets in text are no levels', async () => {
    await post(
      `{"from_number":"${LINE}","number":"${ADA}","content":"${'['.repeat(100)}","x":${'['.repeat(31)}${']'.repeat(31)}}`,
    )
  })

  it('null is absent, at every level', async () => {
    const { message_handle } = await post(good)
    const reply_to = { message_handle, part_index: null }
    const nothing = { media_url: null, send_style: null, status_callback: null, seat_id: null }
    expect(await post({ ...good, ...nothing, reply_to: null })).not.toHaveProperty('reply_to')
    expect((await post({ ...good, reply_to })).reply_to).toEqual({ message_handle })
  })

  it('an empty choice is no choice', async () => {
    const answer = await post({ ...good, media_url: '', send_style: '', status_callback: '', seat_id: '' })
    expect(answer).toMatchObject({ media_url: '', send_style: '', seat_id: null })
    const older = await post({ ...good, mediaURL: '', sendStyle: '', statusCallback: '' })
    expect(older).toMatchObject({ media_url: '', send_style: '', seat_id: null })
    // Whichever comes first: what is empty does not stand in the way of what is not.
    for (const both of [
      { sendStyle: 'slam', send_style: '' },
      { send_style: '', sendStyle: 'slam' },
    ])
      expect(await post({ ...good, ...both })).toMatchObject({ send_style: 'slam' })
  })

  it('minus zero is a part', async () => {
    const { message_handle } = await post(good)
    const answer = await post(
      JSON.stringify({ ...good, reply_to: { message_handle, part_index: 7 } }).replace('7}', '-0}'),
    )
    expect(answer.reply_to).toEqual({ message_handle, part_index: 0 })
    expect((await world.record(answer.message_handle)).reply_to).toEqual({ message_handle, part_index: 0 })
  })

  it.each<[string, Json]>([
    ['recipient and fromNumber', { recipient: ADA, fromNumber: LINE }],
    ['to and from', { to: ADA, from: LINE }],
    ['to_number and sendblue_number', { to_number: ADA, sendblue_number: LINE }],
    ['separators', { number: '+1 (202) 555-01.01', from_number: '+1-202-555-0100' }],
    ['a space that was a plus', { number: ` ${ADA.slice(1)}`, from_number: ` ${LINE.slice(1)}` }],
    [
      'the newer name beside the older',
      { number: ADA, recipient: BOB, from_number: LINE, fromNumber: SHARED_LINE },
    ],
  ])('numbers as %s', async (_name, fields) => {
    expect(await post({ content: 'Hi', ...fields })).toMatchObject({ number: ADA, from_number: LINE })
  })

  it('older names of the other fields', async () => {
    const answer = await post({
      ...good,
      mediaUrl: 'https://example.com/a.jpg',
      sendStyle: 'confetti',
      statusCallback: 'https://example.com/hook',
    })
    expect(answer).toMatchObject({ media_url: 'https://example.com/a.jpg', send_style: 'confetti' })
    const row = await world.app.ctx.db.one('select status_callback from messages where handle = $1', [
      answer.message_handle,
    ])
    expect(row).toEqual({ status_callback: 'https://example.com/hook' })
  })

  it.each([{ content: '' }, { content: ' ' }, { content: null }, { content: undefined }])(
    'media with %j',
    async (text) => {
      const answer = await post({ ...good, ...text, media_url: 'https://example.com/a.jpg?x=1&y=%20' })
      expect(answer).toMatchObject({
        content: text.content ?? '',
        media_url: 'https://example.com/a.jpg?x=1&y=%20',
      })
    },
  )

  it('callbacks to the own machine, in the default world', async () => {
    await post({ ...good, status_callback: 'http://127.0.0.1:9/hook' })
    await post({ ...good, status_callback: 'http://localhost:9/hook' })
  })

  it('a form says the same as JSON', async () => {
    const { message_handle } = await post(good)
    const fields = {
      number: ADA,
      from_number: LINE,
      content: 'a+b & c=d ü 😀\r\n',
      'reply_to[message_handle]': message_handle,
    }
    const form = `${new URLSearchParams(fields)}&reply_to[part_index]=0&send_style=`
    const answer = await post(form, FORM_TYPE)
    expect(answer).toMatchObject({
      number: ADA,
      content: fields.content,
      reply_to: { message_handle, part_index: 0 },
    })
    const bare = await post(`to=${ADA}&from=${LINE}&content=Hi`, FORM_TYPE)
    expect(bare).toMatchObject({ number: ADA, from_number: LINE })
  })

  it('who opted out gets nothing, and the sender is told', async () => {
    await world.text(BOB, 'STOP')
    await world.advance(1000)
    const seen = (await world.inbox(BOB)).length
    const reply = await world.post('/api/send-message', { ...good, number: BOB })
    expect(reply).toMatchObject({ status: 202, body: { status: 'ERROR', error_code: 4002, opted_out: true } })
    await world.advance(10_000)
    expect(await world.status(reply.body.message_handle)).toMatchObject({ status: 'ERROR', error_code: 4002 })
    expect((await world.inbox(BOB)).length).toBe(seen)
  })
})
