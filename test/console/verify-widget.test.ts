import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContextOptions, Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/web/browser.js'
import { ADA, createWorld, type Json, type World } from '../support/world.js'

const SERVICES = '/api/v2/verify/services'

/** A site with the widget on its page. */
interface Site {
  origin: string
  close(): Promise<void>
}

describe('the verify widget in a browser', () => {
  let world: World
  let browser: Browser
  let site: Site
  let stranger: Site
  let service: Json
  let shown: Json

  beforeAll(async () => {
    world = await createWorld('sqlite')
    browser = await launchBrowser()
    site = await serve(() => embedding(shown))
    stranger = await serve(() => embedding(shown))
    service = (await world.post(SERVICES, { friendly_name: 'Example Shop' })).body
  })
  afterAll(async () => {
    await browser?.close()
    await site?.close()
    await stranger?.close()
    await world?.close()
  })

  const start = async (hosted: Json = {}) => {
    const reply = await fetch(`${world.app.url()}${SERVICES}/${service.sid}/verifications`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'sb-api-key-id': 'dev-live-key',
        'sb-api-secret-key': 'dev-live-secret',
      },
      body: JSON.stringify({ to: ADA, hosted: { parent_origin: site.origin, ...hosted } }),
    })
    shown = await reply.json()
    expect(reply.status).toBe(201)
    return shown
  }
  const open = async (origin = site.origin, options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({ viewport: { width: 390, height: 700 }, ...options })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (line) => complaints.push(line.text()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(`${origin}/`)
    return { page, complaints, close: () => context.close() }
  }
  const widgetOf = async (page: Page): Promise<Frame> => {
    await expect
      .poll(() => page.frames().find((frame) => frame.url().includes('/verify/hosted/')))
      .toBeDefined()
    return page.frames().find((frame) => frame.url().includes('/verify/hosted/'))!
  }
  const heard = (page: Page) => page.evaluate(() => (globalThis as Json).heard)

  it('shows the code, and reports the verification to its own site only', async () => {
    const { delivery_target, sid, hosted } = await start({
      accent_color: 'FFD400',
      brand_name: '<b>Brand</b>',
    })
    const { page, complaints, close } = await open()
    const frame = await widgetOf(page)
    await frame.getByText('Waiting for your text').waitFor()
    expect(await frame.locator('#code').textContent()).toBe(delivery_target.code)
    expect(await frame.locator('#pool').textContent()).toBe(delivery_target.pool_number)
    expect(await frame.locator('#brand').textContent()).toBe('<b>Brand</b>')
    expect(await frame.locator('#left').textContent()).toMatch(/^[45]:\d\d$/)
    const link = frame.getByRole('link', { name: 'Open Messages' })
    expect(await link.getAttribute('href')).toBe(delivery_target.sms_deep_link)
    expect(
      await link.evaluate((element) => (globalThis as Json).getComputedStyle(element).backgroundColor),
    ).toBe('rgb(255, 212, 0)')
    // By keyboard, the first element inside is the link.
    await page.locator('#before').focus()
    await page.keyboard.press('Tab')
    expect(await frame.evaluate(() => (globalThis as Json).document.activeElement?.id)).toBe('send')
    expect(await frame.getByRole('status').getAttribute('aria-live')).toBe('polite')
    expect(await heard(page)).toEqual([])

    await world.text(ADA, delivery_target.code, { to: delivery_target.pool_number })
    await frame.getByText('Your number is verified').waitFor()
    expect(await frame.locator('#task').isVisible()).toBe(false)
    const detail = {
      status: 'approved',
      session_id: hosted.session_id,
      verification_sid: sid,
      service_sid: service.sid,
    }
    await expect
      .poll(() => heard(page))
      .toEqual([
        { via: 'message', origin: world.app.url(), data: { type: 'trunkline.verify', ...detail } },
        { via: 'approved', detail },
      ])
    expect(complaints).toEqual([])
    await close()
  })

  it('says when the code has expired', async () => {
    await start()
    const { page, close } = await open()
    const frame = await widgetOf(page)
    await frame.getByText('Waiting for your text').waitFor()
    await world.advance(300_000)
    await frame.getByText('The code has expired').waitFor()
    await expect.poll(async () => (await heard(page)).at(-1)).toMatchObject({ via: 'expired' })
    await close()
  })

  it('cannot be framed by another site', async () => {
    const { delivery_target } = await start()
    const { page, complaints, close } = await open(stranger.origin)
    await expect.poll(() => complaints.join('\n')).toMatch(/frame-ancestors/)
    expect(
      page
        .frames()
        .map((frame) => frame.url())
        .filter((url) => url.includes('/verify/hosted/')),
    ).toEqual([])
    await world.text(ADA, delivery_target.code, { to: delivery_target.pool_number })
    await world.settle()
    expect(await heard(page)).toEqual([])
    await close()
  })

  it('cannot be read by any site', async () => {
    const { hosted } = await start()
    const token = hosted.url.split('#token=')[1]
    for (const { origin } of [site, stranger]) {
      const { page, close } = await open(origin)
      const state = `${world.app.url()}/verify/hosted/${hosted.session_id}/state`
      const read = await page.evaluate(
        ([url, token]) =>
          fetch(url!, { method: 'POST', headers: { 'x-verify-token': token! } }).then(
            (response) => response.text(),
            () => 'blocked',
          ),
        [state, token],
      )
      expect(read).toBe('blocked')
      await close()
    }
  })

  it('shows nothing without its token', async () => {
    const { hosted } = await start()
    shown.hosted.url = hosted.url.replace(/#token=.*/, '#token=wrong')
    const { page, close } = await open()
    const frame = await widgetOf(page)
    await frame.getByText('This link is not valid').waitFor()
    expect(await frame.locator('#task').isVisible()).toBe(false)
    await close()
  })

  it.each([
    ['light', 'light', 'rgb(255, 255, 255)'],
    ['light', 'dark', 'rgb(255, 255, 255)'],
    ['dark', 'light', 'rgb(22, 24, 29)'],
    ['auto', 'light', 'rgb(255, 255, 255)'],
    ['auto', 'dark', 'rgb(22, 24, 29)'],
  ] as const)('theme %s in a %s browser, readable on a phone', async (theme, colorScheme, background) => {
    await start({ theme })
    const { page, close } = await open(site.origin, { colorScheme, viewport: { width: 320, height: 640 } })
    const frame = await widgetOf(page)
    await frame.getByText('Waiting for your text').waitFor()
    const measured = await frame.evaluate(() => {
      const { document, getComputedStyle } = globalThis as Json
      const root = document.documentElement
      return {
        background: getComputedStyle(document.body).backgroundColor,
        overflow: [root.scrollWidth > root.clientWidth, root.scrollHeight > root.clientHeight],
        smallest: Math.min(
          ...[...document.querySelectorAll('main *')].map((one: Json) =>
            Number.parseFloat(getComputedStyle(one).fontSize),
          ),
        ),
      }
    })
    expect(measured).toMatchObject({ background, overflow: [false, false] })
    expect(measured.smallest).toBeGreaterThanOrEqual(14)
    if (process.env.SCREENSHOTS)
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/${theme}-${colorScheme}.png` })
    await close()
  })
})

/** The page of a site with the component. It records every event and message. */
function embedding(verification: Json): string {
  const { component_script, url } = verification.hosted
  return `<!doctype html><html lang="en"><title>Site</title><body>
<script>
  window.heard = []
  addEventListener('message', ({ origin, data }) => heard.push({ via: 'message', origin, data }))
  for (const name of ['approved', 'expired', 'canceled'])
    addEventListener(name, ({ detail }) => heard.push({ via: name, detail }))
</script>
<script src="${component_script}"></script>
<button id="before">Before</button>
<trunkline-verify src="${url}"></trunkline-verify>`
}

async function serve(page: () => string): Promise<Site> {
  const server: Server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(request.url === '/' ? page() : '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}
