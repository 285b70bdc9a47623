import { existsSync } from 'node:fs'
import chromium from '@sparticuz/chromium'
import { chromium as driver } from 'playwright-core'
import { openScene, playScene } from './scene.js'
import { PAINTINGS } from './paintings.js'
const browser = await driver.launch({ executablePath: await chromium.executablePath(), args: ['--no-sandbox','--disable-dev-shm-usage','--disable-gpu'] })
const p0 = await browser.newPage({ viewport: { width: 480, height: 340 } })
const pictures = {}
for (const [n, svg] of Object.entries(PAINTINGS)) { await p0.setContent(`<style>body{margin:0}svg{display:block}</style>${svg}`); pictures[n] = await p0.screenshot() }
const scene = await openScene(pictures)
await playScene(scene)
const LINE='+12025550100'
const FINN='+12025550106', GRACE='+12025550107', ADA='+12025550101'
// extras for Grace
await scene.post('/api/send-carousel', { from_number: LINE, number: GRACE, media_urls: [await scene.upload('pasta'), await scene.upload('terrace')] })
await scene.wait(10)
await scene.post('/api/v2/messages/app-card', { from_number: LINE, number: GRACE, appName: 'Tables', extensionBundleId: 'com.example.tables.ext', teamId: 'ABCDE12345', url: 'https://example.com/t/1', layout: { caption: 'Table for 4', subcaption: 'Friday 19:30', trailingCaption: 'Confirm' } }).catch(e=>console.log(String(e)))
await scene.wait(10)
await scene.post('/api/request-location', { from_number: LINE, number: GRACE }).catch(e=>console.log(String(e)))
await scene.wait(10)
await scene.call('PUT', `/sim/phones/${encodeURIComponent(GRACE)}/location`, { to: LINE, latitude: 52.51, longitude: 13.37 }).catch(e=>console.log(String(e)))
await scene.wait(10)
await scene.send(GRACE, 'Secret dessert', { send_style: 'invisible' })
await scene.wait(10)
const shot = async (name, colorScheme, viewport, path, act) => {
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce', timezoneId: 'UTC' })
  if (path !== null) for (const kind of ['live', 'admin']) await context.request.post(`${scene.url}/console/session`, { headers: { 'x-trunkline-console': '1' }, data: { key_id: `dev-${kind}-key`, secret: `dev-${kind}-secret` } })
  const page = await context.newPage()
  page.on('console', l => console.log(name, l.type(), l.text())); page.on('pageerror', e => console.log(name, String(e)))
  page.setDefaultTimeout(5000)
  await page.goto(`${scene.url}/console${path ?? ''}`)
  await page.waitForTimeout(900)
  try { await act?.(page) } catch (e) { console.log(name, String(e).slice(0,300)) }
  await page.waitForTimeout(400)
  await page.screenshot({ path: `/tmp/look/${name}.png` })
  await context.close()
}
const wide = { width: 1440, height: 900 }, small = { width: 390, height: 844 }
const ph = (page, n) => page.getByRole('region', { name: `${n}'s phone` })
const only = process.argv[2]
const shots = {
 signin: () => shot('signin', 'light', wide, null),
 mobile: () => shot('mobile', 'light', small, '/phones'),
 mobile2: () => shot('mobile2', 'dark', small, '/phones?app=off', async p => { await p.getByRole('button', { name: 'Menu' }).click() }),
 variety: () => shot('variety', 'light', wide, `/phones?app=off&show=${encodeURIComponent([GRACE, FINN, ADA, '+12025550104'].join(','))}`, async p => {
   await ph(p,'Ada').getByRole('button', { name: 'All messages' }).click()
 }),
 variety2: () => shot('variety2', 'dark', wide, `/phones?show=${encodeURIComponent([GRACE, FINN, ADA].join(','))}`, async p => {
   await ph(p,'Ada').getByRole('button', { name: /Settings/ }).click()
   const r = ph(p,'Grace').locator('.bubble-row').last(); await r.hover(); await r.locator('.bubble-more').click()
   await p.getByText('The same with curl').click()
   await p.getByRole('region', { name: 'Your app' }).getByRole('combobox', { name: 'To' }).selectOption({ label: 'Eve' })
 }),
 dialog: () => shot('dialog', 'light', wide, `/phones`, async p => {
   await scene.post('/sim/calls', { from: LINE, to: '+12025550102' })
   await p.getByRole('button', { name: 'Add a phone' }).click()
 }),
}
for (const [n, f] of Object.entries(shots)) if (!only || only.split(',').includes(n)) await f()
await scene.close(); await browser.close()
