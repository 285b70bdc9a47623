// node zz-shots.mjs out [views...]: seeds a world and takes pictures.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, existsSync } from 'node:fs'
import { createServer } from 'node:http'
import chromium from '@sparticuz/chromium'
import { chromium as driver } from 'playwright-core'
const [out, ...only] = process.argv.slice(2)
mkdirSync(out, { recursive: true })
const PORT = 4877
const data = mkdtempSync('/tmp/cb-data-')
const server = spawn('node', ['dist/main.js', 'serve'], { env: { ...process.env, PORT: String(PORT), TRUNKLINE_DATA: data }, stdio: ['ignore', 'pipe', 'inherit'] })
const base = `http://127.0.0.1:${PORT}`
let bad = true
const sink = createServer((q, r) => { q.resume(); q.on('end', () => { r.writeHead(q.url === '/bad' && bad ? 500 : 200, { 'content-type': 'application/json' }); r.end(JSON.stringify(q.url === '/bad' && bad ? { error: 'database is down' } : { ok: true })) }) }).listen(0, '127.0.0.1')
await new Promise(d => sink.once('listening', d))
const hook = `http://127.0.0.1:${sink.address().port}`
for (let i = 0; ; i++) { try { if ((await fetch(base + '/readyz')).ok) break } catch {} ; if (i > 200) throw new Error('no server'); await new Promise(d => setTimeout(d, 100)) }
const H = k => ({ 'sb-api-key-id': `dev-${k}-key`, 'sb-api-secret-key': `dev-${k}-secret`, 'content-type': 'application/json' })
const call = async (m, p, b, k = 'live') => { const r = await fetch(base + p, { method: m, headers: H(k), body: b && JSON.stringify(b) }); const t = await r.text(); if (!r.ok) console.log(m, p, r.status, t); return t ? JSON.parse(t) : null }
const send = (number, content, extra = {}) => call('POST', '/api/send-message', { from_number: '+12025550100', number, content, ...extra })
const advance = ms => call('POST', '/sim/clock', { advance_ms: ms })
const ph = n => `/sim/phones/${encodeURIComponent(n)}`
await call('PUT', '/api/account/webhooks', { webhooks: { receive: [{ url: hook + '/good', secret: 'whsec_abcdefgh' }, hook + '/bad'], outbound: [{ url: hook + '/outbound', retry_schedule: 'extended' }] } })
const names = [['+12025550101', 'Ada', 'Lovelace', 'Analytical Engines', ['vip', 'engineering']], ['+12025550102', 'Bob', 'Kahn', 'Packet Co', ['beta']], ['+12025550103', 'Cleo', 'Wong', 'Nile Logistics', []], ['+12025550104', 'Dan', 'Ingalls', 'Smalltalk', ['beta']]]
for (const [number, first_name, last_name, company_name, tags] of names) await call('POST', '/api/v2/contacts', { number, first_name, last_name, company_name, tags, custom_variables: { Plan: 'Pro', City: 'London' } })
for (let h = 0; h < 8; h++) {
  for (let i = 0; i < 3 + (h * 5) % 7; i++) await send(['+12025550101', '+12025550102', '+12025550103'][i % 3], `Update ${h}.${i}: your parcel is on its way`)
  if (h % 3 === 1) await send('+12025550105', 'Are you there?')
  await call('POST', ph('+12025550101') + '/messages', { to: '+12025550100', content: ['Thanks!', 'When will it come?', 'Great', 'Can you call me?'][h % 4] })
  await advance(3_300_000)
}
await call('PUT', '/api/lines/%2B12025550100/call-forwarding', { forwarding_number: '+12025550103' })
const c1 = await call('POST', ph('+12025550101') + '/calls', { to: '+12025550100' })
await call('POST', ph('+12025550103') + `/calls/${c1.id}/answer`, {})
await advance(74_000)
await call('POST', ph('+12025550103') + `/calls/${c1.id}/hangup`, {})
await call('POST', '/sim/calls', { from: '+12025550100', to: '+12025550102' })
await call('POST', '/v3/auth/tokens', { phone_number: '+12025550100', expires_in_seconds: 3600 })
await call('POST', '/v3/auth/tokens', { expires_in_seconds: 86400 })
await call('POST', '/api/send-group-message', { from_number: '+12025550100', numbers: ['+12025550101', '+12025550177'], content: 'Lunch at one?' })
const failed = await send('+12025550105', 'Your appointment is tomorrow at 10:00', { status_callback: hook + '/bad' })
const sent = await send('+12025550101', 'Your code is 314159. It is good for ten minutes.', { status_callback: hook + '/bad', send_style: 'celebration' })
await send('+12025550101', 'Reminder for tomorrow', { send_at: new Date(Date.now() + 9 * 3.3e6 + 864e5).toISOString() })
await new Promise(d => setTimeout(d, 1500)); await advance(2000); await new Promise(d => setTimeout(d, 1500))
const deliveries = (await call('GET', '/v3/webhook-deliveries?limit=50')).data
const dl = deliveries.find(d => d.url.endsWith('/bad')) ?? deliveries[0]
const views = { overview: '/overview', conversations: '/conversations', thread: '/conversations/%2B12025550101?line=%2B12025550100', search: '/messages?q=is:failed', message: `/messages/${sent.message_handle}`, failed: `/messages/${failed.message_handle}`, contacts: '/contacts', calls: '/calls', webhooks: '/webhooks', delivery: `/webhooks/deliveries/${dl.id}`, events: '/events', keys: '/keys', lines: '/lines' }
const browser = await driver.launch({ executablePath: existsSync('/usr/bin/chromium') ? '/usr/bin/chromium' : await chromium.executablePath(), args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] })
for (const [scheme, size] of [['light', [1440, 900]], ['dark', [1440, 900]], ['light', [390, 844]]]) {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width: size[0], height: size[1] }, reducedMotion: 'reduce' })
  for (const k of ['live', 'admin']) await context.request.post(base + '/console/session', { headers: { 'x-trunkline-console': '1' }, data: { key_id: `dev-${k}-key`, secret: `dev-${k}-secret` } })
  const page = await context.newPage()
  page.on('console', l => ['error', 'warning'].includes(l.type()) && console.log(l.text()))
  page.on('pageerror', e => console.log('page', e))
  for (const [name, path] of Object.entries(views)) {
    if (only.length && !only.includes(name)) continue
    await page.goto(base + '/console' + path); await page.waitForTimeout(900)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth + Math.max(0, document.querySelector('.content').scrollWidth - document.querySelector('.content').clientWidth))
    if (wide > 0) console.log('horizontal scroll', name, size, wide)
    await page.screenshot({ path: `${out}/${name}-${scheme}-${size[0]}.png` })
  }
  await context.close()
}
await browser.close(); sink.close(); server.kill(); process.exit(0)
