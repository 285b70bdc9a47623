// A world for screenshots of the console: a restaurant and its guests, on a stopped clock.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../dist/app.js'
import { createClock } from '../dist/base/clock.js'
import { loadConfig } from '../dist/config.js'
import { DEFAULT_WORLD } from '../dist/services/accounts/default-world.js'

const START = Date.parse('2026-03-06T17:20:00.000Z')
const LINE = '+12025550100'
const [ADA, BOB, CLEO, DAN, EVE, FINN, GRACE] = [1, 2, 3, 4, 5, 6, 7].map((n) => `+1202555010${n}`)
const KEYS = {
  live: { 'sb-api-key-id': 'dev-live-key', 'sb-api-secret-key': 'dev-live-secret' },
  admin: { 'sb-api-key-id': 'dev-admin-key', 'sb-api-secret-key': 'dev-admin-secret' },
}

/** A world that has just begun; `pictures` are PNGs by name. At an https address its keys count as its own. */
export async function openScene(pictures, publicUrl) {
  const data = mkdtempSync(join(tmpdir(), 'trunkline-scene-'))
  const config = loadConfig({
    PORT: '0',
    TRUNKLINE_DATA: data,
    LOG_LEVEL: 'silent',
    TRUNKLINE_DRAIN_MS: '200',
    ...(publicUrl && { TRUNKLINE_PUBLIC_URL: publicUrl }),
  })
  const app = await createApp(config, {
    seed: true,
    clock: createClock(START),
    ...(publicUrl && { keys: DEFAULT_WORLD.keys }),
  })
  await app.start()
  const receiver = await openReceiver()
  const scene = {
    app,
    url: app.url(),
    pictures,
    receiver: receiver.url,
    async call(method, path, body, as = 'live') {
      const response = await fetch(app.url() + path, {
        method,
        headers: { ...KEYS[as], ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
      return text === '' ? undefined : JSON.parse(text)
    },
    post: (path, body = {}) => scene.call('POST', path, body),
    send: (number, content, more = {}) =>
      scene.post('/api/send-message', { from_number: LINE, number, content, ...more }),
    /** Somebody types on a phone. */
    text: (phone, content, more = {}) =>
      scene.post(`/sim/phones/${encodeURIComponent(phone)}/messages`, { to: LINE, content, ...more }),
    phone: (number, switches) => scene.call('PATCH', `/sim/phones/${encodeURIComponent(number)}`, switches),
    read: (number) => scene.post(`/sim/phones/${encodeURIComponent(number)}/read`),
    inbox: async (number) =>
      (await scene.call('GET', `/sim/phones/${encodeURIComponent(number)}/inbox`)).data,
    async upload(name) {
      const form = new FormData()
      form.append('file', new Blob([pictures[name]], { type: 'image/png' }), `${name}.png`)
      const response = await fetch(`${app.url()}/api/upload-file`, {
        method: 'POST',
        headers: KEYS.live,
        body: form,
      })
      return (await response.json()).media_url
    },
    async wait(seconds) {
      await app.advance(seconds * 1000)
      await app.settle()
    },
    async close() {
      await app.stop()
      await receiver.close()
      rmSync(data, { recursive: true, force: true })
    },
  }
  return scene
}

/** Takes webhooks, except when it has a bad day. */
async function openReceiver() {
  let count = 0
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const isBroken = request.url.startsWith('/old-crm')
      response.writeHead(isBroken ? 503 : ++count % 7 === 3 ? 500 : 200, {
        'content-type': 'application/json',
      })
      response.end(isBroken ? '{"error":"maintenance"}' : '{"ok":true}')
    })
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((done) => server.close(done)),
  }
}

/** An evening at the restaurant. */
export async function playScene(scene) {
  const { send, text, wait, post } = scene
  await post('/api/account/webhooks', { type: 'receive', webhooks: [`${scene.receiver}/hooks/inbound`] })
  await post('/api/account/webhooks', {
    type: 'outbound',
    webhooks: [`${scene.receiver}/hooks/status`, `${scene.receiver}/old-crm`],
  })
  await post('/sim/phones', { number: FINN, name: 'Finn' })
  await post('/sim/phones', { number: GRACE, name: 'Grace' })

  await fillBooks(scene)
  await send(BOB, 'Osteria Lune: your table for 2 is booked for tonight, 20:00.')
  await wait(40)
  await text(BOB, 'Thanks! Could we come at 20:30 instead?')
  await wait(60)
  await send(BOB, 'Of course. 20:30 it is. Your check-in code is 482 913.')
  await wait(95)
  await text(BOB, 'Got it, see you then')
  await wait(20)

  await scene.phone(CLEO, { rcs: true })
  await send(CLEO, 'Hi Cleo, tonight’s menu is here. Anything we should know for the kitchen?')
  await wait(50)
  await text(CLEO, 'One vegetarian, one nut allergy')
  await wait(30)
  await send(CLEO, 'Noted, the kitchen knows. See you at 19:45!', { media_url: await scene.upload('pasta') })
  await wait(30)
  await text(CLEO, 'That looks amazing')
  await wait(20)

  const group = await post('/sim/groups', {
    by: ADA,
    line: LINE,
    members: [FINN, GRACE],
    name: 'Friday dinner',
  })
  await wait(5)
  await text(FINN, 'I’ll be ten minutes late, sorry!', { to: undefined, group_id: group.id })
  await wait(25)
  await text(GRACE, 'Saving you a seat', { to: undefined, group_id: group.id })
  await wait(15)
  const known = await scene.call('GET', `/sim/groups/${group.id}`)
  await post('/api/send-group-message', {
    from_number: LINE,
    group_id: known.group_id,
    content: 'No problem, the table is yours all evening.',
  })
  await wait(20)

  const first = await send(ADA, 'Hi Ada, your table for 4 at Osteria Lune is confirmed: Friday, 19:30.')
  await wait(35)
  await text(ADA, 'Perfect, thank you! Is the terrace open?')
  await wait(30)
  const inbound = (await scene.inbox(ADA)).at(-1)
  await send(ADA, 'It is. I moved you to the terrace, by the lemon trees.', {
    media_url: await scene.upload('terrace'),
    reply_to: { message_handle: inbound.message_handle },
  })
  await wait(25)
  await post('/api/send-reaction', {
    from_number: LINE,
    message_handle: inbound.message_handle,
    reaction: 'love',
  })
  await scene.read(ADA)
  await wait(5)
  await text(ADA, 'You are wonderful')
  await wait(20)
  const table = (await scene.inbox(ADA)).find((one) => one.message_handle === first.message_handle)
  await post(`/sim/phones/${encodeURIComponent(ADA)}/messages/${table.id}/reactions`, { reaction: 'like' })
  await send(ADA, 'See you tonight!', { send_style: 'confetti' })
  await wait(15)
  await scene.read(ADA)

  await send(EVE, 'Hi Eve, your table is ready.')
  await send(DAN, 'Hi Dan, we kept your scarf. Pick it up any time.')
  // The carrier throttles twice and a webhook receiver is down, so that the timeline has something to show.
  await scene.call('PUT', '/sim/faults/too-many-requests', { phone: GRACE, count: 2 })
  const told = await send(GRACE, 'Hi Grace, the code for the car park tonight is 7715.')
  await wait(90)
  await scene.read(BOB)
  await scene.read(CLEO)
  await text(ADA, 'On our way!')
  await wait(8)
  await post('/api/send-typing-indicator', { number: ADA, from_number: LINE, max_duration_ms: 300_000 })
  return { first: first.message_handle, told: told.message_handle }
}

/** What the pages around the messages show. */
async function fillBooks({ call, post }) {
  const guests = [
    [ADA, 'Ada', 'Lovelace', ['regular', 'terrace']],
    [BOB, 'Bob', 'Kahn', []],
    [CLEO, 'Cleo', 'Wong', ['vegetarian']],
    [FINN, 'Finn', 'Larsen', []],
    [GRACE, 'Grace', 'Hopper', ['regular']],
  ]
  for (const [number, first_name, last_name, tags] of guests)
    await post('/api/v2/contacts', { number, first_name, last_name, tags, update_if_exists: true })
  const [account] = (await call('GET', '/admin/accounts', undefined, 'admin')).data
  for (const [label, kind] of [
    ['Booking widget', 'live'],
    ['Kitchen display', 'live'],
    ['Continuous integration', 'test'],
  ])
    await call('POST', '/admin/keys', { account_id: account.id, label, kind }, 'admin')
  await post('/v3/auth/tokens', { phone_number: LINE, expires_in_seconds: 3600 })
  await post('/v3/auth/tokens', { expires_in_seconds: 28_800 })
}
