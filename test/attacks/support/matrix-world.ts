import type { Json, Who, World } from '../../support/world.js'

/** The kinds of objects that requests name. */
export type Kind =
  | 'message'
  | 'scheduled'
  | 'group'
  | 'contact'
  | 'contactId'
  | 'seat'
  | 'totp'
  | 'service'
  | 'verification'
  | 'token'
  | 'delivery'
  | 'request'
  | 'line'
  | 'phone'
  | 'call'
  | 'lineCall'
  | 'phoneMessage'
  | 'world'
  | 'account'
  | 'key'
  | 'lineId'

export type Things = Record<Kind, string>

/** Objects that never existed, in the shape of real ones. */
export const ABSENT: Things = {
  message: '00000000-0000-4000-8000-000000000000',
  scheduled: '00000000-0000-4000-8000-000000000000',
  group: '00000000-0000-4000-8000-000000000000',
  contact: '+12025557909',
  contactId: '00000000-0000-4000-8000-000000000000',
  seat: '00000000-0000-4000-8000-000000000000',
  totp: '00000000-0000-4000-8000-000000000000',
  service: 'VA00000000000000000000000000000000',
  verification: 'VE00000000000000000000000000000000',
  token: '00000000-0000-4000-8000-000000000000',
  delivery: '999999',
  request: '1700000000000-none-1',
  line: '+12025557900',
  phone: '+12025557901',
  call: '00000000-0000-4000-8000-000000000000',
  lineCall: '00000000-0000-4000-8000-000000000000',
  phoneMessage: '00000000-0000-4000-8000-000000000000',
  world: '0000000000',
  account: '0000000000',
  key: 'tlk_0000000000000000000000',
  lineId: '0000000000',
}

/** One object of every kind, on one line of an account. `people` is the start of its phones' numbers. */
export async function makeThings(
  world: World,
  as: Who,
  { line, people, accountId }: { line: string; people: string; accountId: string },
): Promise<Things> {
  const post = async (path: string, body: Json, who = as): Promise<Json> => {
    const reply = await world.post(path, body, who)
    if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  const [phone, other] = [`${people}1`, `${people}2`]
  for (const number of [phone, other]) await post('/sim/phones', { number, name: 'matrix-canary' })
  const send = (fields: Json) =>
    post('/api/send-message', { from_number: line, number: phone, content: 'matrix-canary', ...fields })
  // Nobody listens there: the delivery stays in the log.
  await world.call('PUT', '/api/account/webhooks', {
    as,
    body: { webhooks: { outbound: ['http://127.0.0.1:9/'] } },
  })
  const message = (await send({})).message_handle
  const scheduled = (await send({ send_at: '2026-12-01T00:00:00Z' })).message_handle
  const group = (await post('/api/create-group', { from_number: line, numbers: [phone, other] })).group_id
  const { contact } = await post('/api/v2/contacts', {
    number: phone,
    first_name: 'matrix-canary',
    sendblue_number: line,
  })
  await world.post('/v3/verified-contacts', { phone_number: phone }, as)
  const totp = (await post('/api/v2/totp/secrets', { label: 'mail' })).totp_secret.id
  const service = (await post('/api/v2/verify/services', { friendly_name: 'Shop' })).sid
  const started = { to: other, from_number: line }
  const verification = (await post(`/api/v2/verify/services/${service}/verifications`, started)).sid
  const call = (await post(`/sim/phones/${phone}/calls`, { to: line })).id
  const lineCall = (await post('/sim/calls', { from: line, to: other })).id
  await world.advance(5000)
  const admin = async (path: string): Promise<Json[]> => (await world.get(path, 'admin')).body.data
  const [key] = await admin(`/admin/keys?account_id=${accountId}`)
  const isTest = accountId === '' || (await world.post('/v3/auth/tokens', {}, as)).status !== 201
  return {
    message,
    scheduled,
    group,
    contact: phone,
    contactId: contact.contact_id,
    seat: (
      await post('/admin/seats', { account_id: accountId, email: `${people.slice(1)}@example.com` }, 'admin')
    ).id,
    totp: totp,
    service,
    verification,
    token: isTest ? ABSENT.token : (await post('/v3/auth/tokens', {})).token_id,
    delivery: (await world.get('/v3/webhook-deliveries', as)).body.data[0].id,
    request: (await world.get('/v3/requests', as)).body.data[0].id,
    line,
    phone,
    call,
    lineCall,
    phoneMessage: (await world.inbox(phone, as))[0].id,
    world: isTest ? ABSENT.world : (await post('/sim/worlds', {})).id,
    account: accountId,
    key: key.id,
    lineId: (await admin(`/admin/lines?account_id=${accountId}`)).find((one) => one.number === line).id,
  }
}
