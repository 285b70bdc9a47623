import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ADA,
  BOB,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  type Reply,
  SHARED_LINE,
  type World,
} from '../support/world.js'

const good = { from_number: LINE, number: ADA, content: 'Hello' }
const body = (fields: Record<string, unknown> = {}) => JSON.stringify({ ...good, ...fields })
/** The good body with one more member, as text that JSON.stringify would not write. */
const withMember = (member: string) => body().replace(/}$/, `,${member}}`)

const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

describe.each(ENGINES)('bad sends on %s', (engine) => {
  let world: World
  let messageToBob: string
  let messageFromSharedLine: string
  let messageToAda: string

  beforeAll(async () => {
    world = await createWorld(engine)
    messageToAda = (await world.send()).message_handle
    messageToBob = (await world.send({ number: BOB })).message_handle
    messageFromSharedLine = (await world.send({ from_number: SHARED_LINE })).message_handle
    await world.advance(1000)
  })
  afterAll(() => world.close())

  const post = (payload: unknown, headers: Record<string, string> = JSON_TYPE) =>
    world.call('POST', '/api/send-message', { headers, body: payload })

  /** Messages as the account sees them, and everything below: events and what went to phones. */
  async function stored(): Promise<Json> {
    await world.advance(250)
    const count = async (table: string) =>
      (await world.app.ctx.db.one<{ n: number }>(`select count(*) as n from ${table}`))!.n
    const { total } = (await world.get('/api/v2/messages?limit=1')).body.pagination
    return [total, await count('messages'), await count('events'), await count('phone_messages')]
  }

  /** The answer, after making sure that it refused and left nothing behind. */
  async function refused(attempt: () => Promise<Reply>): Promise<Reply> {
    const before = await stored()
    const reply = await attempt()
    expect(reply.status).toBe(400)
    expect(reply.body).toEqual({
      status: 'ERROR',
      message: expect.any(String),
      error_code: 4000,
      error_message: reply.body.message,
    })
    expect(reply.headers['x-should-retry']).toBe('false')
    expect(await stored()).toEqual(before)
    return reply
  }

  it.each<[string, string | Buffer, RegExp]>([
    ['empty', '', /empty/],
    ['only spaces', '  ', /JSON/],
    ['null', 'null', /JSON object/],
    ['a list', '[]', /JSON object/],
    ['a list around it', `[${body()}]`, /JSON object/],
    ['a string', '"x"', /JSON object/],
    ['a number', '42', /JSON object/],
    ['true', 'true', /JSON object/],
    ['an empty object', '{}', /missing required parameter/],
    ['not JSON', 'hello', /JSON/],
    ['cut off', body().slice(0, -1), /JSON/],
    ['in single quotes', body().replaceAll('"', "'"), /JSON/],
    ['with a trailing comma', withMember(''), /JSON/],
    ['with a comment', `${body()} // hi`, /JSON/],
    ['followed by more', `${body()}x`, /JSON/],
    ['followed by another', body() + body(), /JSON/],
    ['followed by NUL', `${body()}\0`, /JSON/],
    ['with a byte order mark', `\ufeff${body()}`, /JSON/],
    ['in UTF-16', Buffer.from(body(), 'utf16le'), /JSON/],
    ['in UTF-16 with its mark', Buffer.from(`\ufeff${body()}`, 'utf16le'), /UTF-8/],
    ['in Latin 1', Buffer.from(body({ content: 'Grüße' }), 'latin1'), /UTF-8/],
    [
      'with a surrogate in UTF-8',
      Buffer.from(body({ content: '@@@' }).replaceAll('@@@', '\xed\xa0\x80'), 'latin1'),
      /UTF-8/,
    ],
    [
      'with an overlong NUL',
      Buffer.from(body({ content: '@@' }).replaceAll('@@', '\xc0\x80'), 'latin1'),
      /UTF-8/,
    ],
    ['with a raw control character', body().replace('Hello', 'a\u0001b'), /JSON/],
    ['with __proto__', withMember('"__proto__":{"content":"x"}'), /__proto__/],
    ['with constructor', withMember('"constructor":{"prototype":{"x":1}}'), /constructor/],
    ['with prototype', withMember('"prototype":{}'), /prototype/],
    ['with an escaped __proto__', withMember('"__pr\\u006fto__":{}'), /__proto__/],
    ['with an escaped constructor', withMember('"\\u0063onstructor":{}'), /constructor/],
    [
      'with __proto__ further down',
      withMember('"reply_to":{"message_handle":"x","__proto__":{}}'),
      /__proto__/,
    ],
    ['with 100,000 levels', withMember(`"a":${'['.repeat(100_000)}${']'.repeat(100_000)}`), /deeper than 32/],
    ['with 100,000 open levels', '{"a":'.repeat(100_000), /deeper than 32/],
    ['with 33 levels', withMember(`"a":${'['.repeat(32)}${']'.repeat(32)}`), /deeper than 32/],
    ['with a number as content', withMember('"content":12345678901234567890'), /^content: /],
    ['with infinity as content', withMember('"content":1e999'), /^content: /],
    ['with minus zero as number', withMember('"number":-0'), /^number: /],
    ['with a huge number', withMember('"number":12345678901234567890'), /^number: /],
    ['with NUL in the content', body({ content: 'a\0b' }), /^content: .*NUL/],
    ['with NUL in a name', body({ 'a\0b': 1 }), /NUL/],
    ['with NUL deep in an unknown field', body({ extra: [{ deep: '\0' }] }), /NUL/],
    ['with a lone high surrogate', body({ content: 'a\ud800' }), /^content: .*surrogate/],
    ['with a lone low surrogate', body({ content: '\udc00a' }), /^content: .*surrogate/],
    ['with surrogates the wrong way round', body({ content: '\ude00\ud83d' }), /^content: .*surrogate/],
  ])('a body %s', async (_name, payload, text) => {
    expect((await refused(() => post(payload))).body.message).toMatch(text)
    expect(({} as Json).content).toBeUndefined()
  })

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['no from_number', { from_number: undefined }, /missing required parameter.*from_number/],
    ['null as from_number', { from_number: null }, /missing required parameter.*from_number/],
    ['an empty from_number', { from_number: '' }, /from_number/],
    ['a number that is no line', { from_number: '+12025550177' }, /This phone number is not defined/],
    ['the recipient as from_number', { from_number: ADA }, /This phone number is not defined/],
    ['a list as from_number', { from_number: [LINE] }, /^from_number: /],
    ['the line as recipient', { number: LINE }, /Cannot send messages to self/],
    [
      'the line as recipient, written otherwise',
      { number: '+1 (202) 555-0100' },
      /Cannot send messages to self/,
    ],
    ['no number', { number: undefined }, /missing required parameter: number/],
    ['an empty number', { number: '' }, /^number: /],
    ['a blank number', { number: '   ' }, /^number: /],
    ['a national number', { number: '2025550101' }, /^number: /],
    ['a national number with its brackets', { number: '(202) 555-0101' }, /^number: /],
    ['a number without its plus', { number: '12025550101' }, /^number: /],
    ['a short code', { number: '12345' }, /^number: /],
    ['a short code with a plus', { number: '+12345' }, /^number: /],
    ['letters', { number: '+1202555ADAM' }, /^number: /],
    ['20 digits', { number: '+12025550101202555010' }, /^number: /],
    ['16 digits', { number: '+1202555010120255' }, /^number: /],
    ['a leading zero', { number: '+02025550101' }, /^number: /],
    ['a digit too few', { number: '+120255' }, /^number: /],
    ['two numbers', { number: `${ADA},${BOB}` }, /^number: /],
    ['two numbers with a space', { number: `${ADA} ${BOB}` }, /^number: /],
    ['two numbers in a list', { number: [ADA, BOB] }, /^number: /],
    ['an extension', { number: `${ADA};ext=5` }, /^number: /],
    ['Arabic digits', { number: '+١٢٠٢٥٥٥٠١٠١' }, /^number: /],
    ['an e-mail address', { number: 'ada@example.com' }, /^number: /],
    ['a wildcard', { number: '+1202555%' }, /^number: /],
    ['SQL', { number: `${ADA}' or 1=1 --` }, /^number: /],
    ['no content', { content: undefined }, /missing required parameter: content/],
    ['null as content', { content: null }, /missing required parameter: content/],
    ['empty content', { content: '' }, /missing required parameter: content/],
    ['empty content and empty media', { content: '', media_url: '' }, /missing required parameter: content/],
    ['content of 18,996 characters', { content: 'x'.repeat(18_996) }, /^content: /],
    ['content of 1,000,000 characters', { content: 'x'.repeat(1_000_000) }, /^content: /],
    ['an object as content', { content: { text: 'x' } }, /^content: /],
    ['media over http', { media_url: 'http://example.com/a.jpg' }, /^media_url: .*https/],
    [
      'a list of two as media',
      { media_url: ['https://example.com/a.jpg', 'https://example.com/b.jpg'] },
      /^media_url: /,
    ],
    ['media of 4 KB', { media_url: `https://example.com/${'a'.repeat(4096)}` }, /^media_url: /],
    ...[
      'data:image/png;base64,iVBORw0KGgo=',
      'file:///etc/passwd',
      'ftp://example.com/a.jpg',
      'a.jpg',
      '//example.com/a.jpg',
      'https://',
      'https:// example.com/',
      'https://example.com\\@10.0.0.1/',
      'javascript:alert(1)',
      'https://user:secret@example.com/a.jpg',
      'https://example.com/a.jpg#x',
      'https://10.0.0.1/a.jpg',
      'https://192.168.1.1/',
      'https://172.16.0.1/',
      'https://169.254.169.254/latest/',
      'https://100.64.0.1/',
      'https://0.0.0.0/',
      'https://10.1/',
      'https://0x0a000001/',
      'https://012.0.0.1/',
      'https://[fd00::1]/',
      'https://[fe80::1]/',
      'https://[::ffff:10.0.0.1]/',
      'https://[64:ff9b::a00:1]/',
      'https://224.0.0.1/',
      'https://255.255.255.255/',
      'https://intranet/',
      'https://metadata.google.internal/',
      'https://printer.local./',
      'https://app.localhost/',
    ].map((url): [string, Record<string, unknown>, RegExp] => [
      `media at ${url}`,
      { media_url: url },
      /^media_url: /,
    ]),
    ['a callback over http', { status_callback: 'http://example.com/hook' }, /^status_callback: .*https/],
    [
      'a callback in a private network',
      { status_callback: 'https://10.0.0.1/hook' },
      /^status_callback: .*private/,
    ],
    [
      'a callback with credentials',
      { status_callback: 'https://me:secret@example.com/hook' },
      /^status_callback: .*credentials/,
    ],
    [
      'a callback with a fragment',
      { status_callback: 'https://example.com/hook#here' },
      /^status_callback: .*fragment/,
    ],
    [
      'a callback of 4 KB',
      { status_callback: `https://example.com/${'a'.repeat(4096)}` },
      /^status_callback: .*2048/,
    ],
    ['a callback that is no URL', { status_callback: 'example' }, /^status_callback: /],
    ['a callback that is a list', { status_callback: ['https://example.com/'] }, /^status_callback: /],
    ['a style in upper case', { send_style: 'CONFETTI' }, /^send_style: must be one of/],
    ['an unknown style', { send_style: 'sparkle' }, /^send_style: must be one of/],
    ['a style by number', { send_style: 1 }, /^send_style: /],
    ['a reply to nothing', { reply_to: {} }, /missing required parameter: reply_to.message_handle/],
    ['a reply to an empty handle', { reply_to: { message_handle: '' } }, /^reply_to.message_handle: /],
    ['a reply to a number', { reply_to: { message_handle: 5 } }, /^reply_to.message_handle: /],
    ['a reply that is a handle', { reply_to: 'abc' }, /^reply_to: /],
    [
      'a reply to an unknown message',
      { reply_to: { message_handle: 'abc' } },
      /^reply_to.message_handle: no such message/,
    ],
    [
      'a seat that does not exist',
      { seat_id: '00000000-0000-4000-8000-000000000000' },
      /^seat_id: no such seat/,
    ],
    ['a seat that is no id', { seat_id: "' or 1=1 --" }, /^seat_id: no such seat/],
    ['a seat by number', { seat_id: 7 }, /^seat_id: /],
  ])('%s', async (_name, fields, text) => {
    expect((await refused(() => post({ ...good, ...fields }))).body.message).toMatch(text)
  })

  it('replies outside the conversation, and to parts that cannot be', async () => {
    const targets: Json[] = [
      { message_handle: messageToBob },
      { message_handle: messageFromSharedLine },
      ...[-1, 1.5, 1_000_000_000, '0', true].map((part_index) => ({
        message_handle: messageToAda,
        part_index,
      })),
    ]
    for (const reply_to of targets) {
      expect((await refused(() => post({ ...good, reply_to }))).body.message).toMatch(/^reply_to\./)
    }
    const infinite = body({ reply_to: { message_handle: messageToAda, part_index: 7 } }).replace(
      '7}',
      '1e999}',
    )
    await refused(() => post(infinite))
  })

  it.each<[string, string, RegExp]>([
    ['an empty form', '', /missing required parameter/],
    [
      'a name given twice',
      `number=%2B1&from_number=${LINE}&content=a&content=b`,
      /^content: given more than once/,
    ],
    ['NUL in a form', 'content=a%00b', /NUL/],
    ['__proto__ in a form', '__proto__=x&content=a', /__proto__/],
    ['__proto__ inside a form field', 'reply_to[__proto__]=x', /__proto__/],
    ['a field and its part', 'reply_to=x&reply_to[message_handle]=y', /^reply_to: given more than once/],
    ['brackets without a name', '[a]=1', /not a field/],
    ['bytes in a form that are not UTF-8', 'content=%ff', /UTF-8/],
  ])('%s', async (_name, payload, text) => {
    expect((await refused(() => post(payload, FORM_TYPE))).body.message).toMatch(text)
  })
})
