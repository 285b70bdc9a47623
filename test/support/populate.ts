import { ADA, BOB, CLEO, type Json, type Who, type World } from './world.js'

/** One of everything that can happen in a simulated world, for tests of the whole of it. */
export async function populate(world: World, line: string, sink: string, as: Who = 'live'): Promise<void> {
  const post = async (path: string, body: Json) => {
    const reply = await world.post(path, body, as)
    if (reply.status >= 300) throw new Error(`${path}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  const put = (path: string, body: Json) => world.call('PUT', path, { as, body })
  await put('/api/account/webhooks', {
    webhooks: { receive: [`${sink}/receive`], outbound: [{ url: `${sink}/outbound`, secret: 'whsec' }] },
  })
  await world.setPhone(ADA, { auto_reply: 'Gone fishing', email: 'ada@example.com' }, as)
  await post('/sim/phones', { number: '+12025557001', name: 'Newcomer' })
  for (const number of [ADA, BOB, CLEO])
    await world.send({ from_number: line, number, content: 'Hello', status_callback: `${sink}/status` }, as)
  await world.send({ from_number: line, content: 'Later', send_at: '2026-03-09T00:00:00Z' }, as)
  await world.text(BOB, 'Hi', { to: line }, as)
  await world.text(CLEO, 'STOP', { to: line }, as)
  await post('/api/v2/contacts', {
    number: '+12025557002',
    first_name: 'Known',
    custom_variables: { a: 'b' },
  })
  await post('/api/send-group-message', { numbers: [ADA, '+12025557003'], from_number: line, content: 'All' })
  await post('/api/v2/totp/secrets', { label: 'mail' })
  const service = await post('/api/v2/verify/services', { friendly_name: 'Shop' })
  await post(`/api/v2/verify/services/${service.sid}/verifications`, { to: ADA, from_number: line })
  await post('/v3/auth/tokens', {})
  await post('/v3/verified-contacts', { phone_number: '+12025557004' }).catch(() => {})
  await put(`/api/lines/${line}/call-forwarding`, { forwarding_number: '+12025557005' })
  await post(`/sim/phones/${ADA}/calls`, { to: line })
  await put(`/sim/phones/${ADA}/location`, { to: line, latitude: 1, longitude: 2 })
  await world.get(`/api/location?from_number=${encodeURIComponent(line)}`, as)
  await post('/api/v2/contact-sharing/profile', { fromNumber: line, firstName: 'Line' })
  await world.advance(5000)
  await post('/api/v2/contact-sharing/share', { fromNumber: line, toNumber: ADA }).catch(() => {})
  await post('/api/send-typing-indicator', { from_number: line, number: ADA })
  const [first] = await world.inbox(ADA, as)
  await post(`/sim/phones/${ADA}/messages/${first.id}/reactions`, { reaction: 'love' })
  await post(`/sim/phones/${ADA}/typing`, { to: line, typing: true })
  await post('/api/send-message', {
    from_number: line,
    number: BOB,
    content: 'Once',
    media_url: 'https://example.com/x.png',
  })
  await world.advance(5000)
}
