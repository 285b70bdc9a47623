import { describe, expect, it } from 'vitest'
import { MAX_BODY, MAX_TEXTS, maskBody, maskMessage, maskPath, textsIn } from './mask.js'

describe('the path of a logged call', () => {
  it.each([
    ['/api/send-message', '/api/send-message'],
    ['/api/v2/messages?number=%2B12025550101', '/api/v2/messages'],
    ['/api/v2/contacts/+12025550101', '/api/v2/contacts/*0101'],
    ['/api/v2/contacts/%2B12025550101', '/api/v2/contacts/*0101'],
    ['/api/v2/contacts/2025550101', '/api/v2/contacts/*0101'],
    ['/api/v2/contacts/(202)%20555-0101', '/api/v2/contacts/*0101'],
    ['/sim/phones/+12025550101/inbox', '/sim/phones/*0101/inbox'],
    ['/sim/phones/ada@example.com/inbox', '/sim/phones/*/inbox'],
    ['/api/nothing/Meet%20me%20at%209', '/api/nothing/*'],
    ['/api/nothing/%zz', '/api/nothing/*'],
    ['/v3/webhook-deliveries/12345678', '/v3/webhook-deliveries/12345678'],
    [
      '/api/message/0196b8a3-1c7e-7000-8000-123456789012',
      '/api/message/0196b8a3-1c7e-7000-8000-123456789012',
    ],
  ])('%s becomes %s', (url, path) => expect(maskPath(url)).toBe(path))

  it('is bounded', () => expect(maskPath(`/api/${'a'.repeat(5000)}`)).toHaveLength(200))
})

describe('the error message of a logged call', () => {
  const mask = (message: string, request: unknown = {}) => maskMessage(message, textsIn(request))

  it('loses numbers, addresses and URLs, given or not', () => {
    expect(mask('There is no contact +12025550101')).toBe('There is no contact *0101')
    expect(mask('There is an account for ada@example.com already')).toBe('There is an account for * already')
    expect(mask('url: https://ada:pw@example.com/x?k=1 is refused')).toBe('url: * is refused')
    expect(mask('There is no phone (202) 555-0101', { number: '(202) 555-0101' })).toBe(
      'There is no phone *0101',
    )
  })

  it('loses what came with the request', () => {
    expect(mask('There is no contact Ada Byron', { id: 'Ada Byron' })).toBe('There is no contact *')
    expect(mask('Meet me: not a field of this request.', { 'Meet me': 1 })).toBe(
      '*: not a field of this request.',
    )
    expect(mask('Unknown value "banana" for is:. Use failed')).toBe('Unknown value "*" for is:. Use failed')
  })

  it('is left out when the request is too large to compare it with', () => {
    const texts = Array.from({ length: MAX_TEXTS + 1 }, () => 'x')
    expect(mask('There is no contact Ada', texts.slice(1))).toBe('There is no contact Ada')
    expect(mask('There is no contact Ada', [...texts, 'Ada'])).toMatch(/^\(not kept/)
  })

  it('keeps what helps', () => {
    const message = 'kep: not a field of this request. Did you mean "keep"?'
    expect(mask(message, { kep: ['webhooks'] })).toBe(message)
    expect(mask('missing required parameter: number', { content: 'Hi' })).toBe(
      'missing required parameter: number',
    )
  })
})

describe('the body of a logged call', () => {
  it('has no secrets, at any depth', () => {
    const body = {
      number: '+12025550101',
      webhooks: { receive: [{ url: 'https://u:p@example.com/hook?token=abc', secret: 'shh' }] },
      globalSecret: 'shh',
      token: { value: 'shh' },
      api_key: 'shh',
      code: '123456',
      secret: null,
    }
    expect(JSON.parse(maskBody(JSON.stringify(body))!)).toEqual({
      number: '+12025550101',
      webhooks: { receive: [{ url: 'https://example.com/hook?*', secret: '*' }] },
      globalSecret: '*',
      token: '*',
      api_key: '*',
      code: '*',
      secret: null,
    })
  })

  it('is cut, and is nothing if it is no JSON', () => {
    expect(maskBody(JSON.stringify({ content: 'x'.repeat(9000) }))).toHaveLength(MAX_BODY)
    expect(maskBody('{"secret":"shh"')).toBeUndefined()
  })
})
