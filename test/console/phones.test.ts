import { gzipSync } from 'node:zlib'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/web/browser.js'
import { accessibilityFaults, type ConsoleTab, openConsole } from '../support/web/console.js'
import { ADA, BOB, createWorld, EVE, type Json, LINE, type World } from '../support/world.js'

const BLUE = /rgb\(10, 124, 255\)/
const GREEN = /rgb\(42, 168, 74\)/

/** An image of one pixel. */
const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** The background image of an element. */
const paint = (bubble: Locator) =>
  bubble.evaluate((element) => (globalThis as Json).getComputedStyle(element).backgroundImage as string)

describe('the phones in the console', () => {
  let world: World
  let browser: Browser
  let tab: ConsoleTab
  let page: Page
  beforeAll(async () => {
    world = await createWorld('postgres')
    browser = await launchBrowser()
    tab = await openConsole(browser, world, '/phones')
    page = tab.page
    await page.getByText('Live', { exact: true }).waitFor()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })

  const phone = (name: string) => page.getByRole('region', { name: `${name}'s phone` })
  const app = () => page.getByRole('region', { name: 'Your app' })
  const bubble = (where: Locator, text: string) =>
    where.locator('.bubble', { has: page.getByText(text, { exact: true }) })
  const type = async (where: Locator, text: string) => {
    await where.getByRole('textbox').fill(text)
    // The clock moves only messages that the server has received.
    const answered = page.waitForResponse(/\/(?:messages|send-message|send-group-message)$/)
    await where.getByRole('button', { name: 'Send', exact: true }).click()
    await answered
  }
  /** The state below the last sent message. */
  const state = (where: Locator) => where.locator('.state').last()

  it('a message typed on a phone arrives through the API', async () => {
    await type(phone('Ada'), 'Hello from Ada')
    await bubble(phone('Ada'), 'Hello from Ada').waitFor()
    await world.settle()
    await expect
      .poll(async () => (await world.get(`/api/v2/messages?number=${encodeURIComponent(ADA)}`)).body.data)
      .toMatchObject([
        { content: 'Hello from Ada', is_outbound: false, service: 'iMessage', status: 'RECEIVED' },
      ])
    await bubble(app(), 'Hello from Ada').waitFor()
    expect(await paint(bubble(phone('Ada'), 'Hello from Ada'))).toMatch(BLUE)
    await expect.poll(() => state(phone('Ada')).textContent()).toBe('Delivered')
  })

  it('a message sent through the API changes from Sending to Delivered and to Read', async () => {
    await world.setLine(LINE, { config: { state: 'OFFLINE' } })
    await world.send({ content: 'Hello from the app' })
    await bubble(app(), 'Hello from the app').waitFor()
    expect(await state(app()).textContent()).toBe('Sending…')
    expect(await paint(bubble(app(), 'Hello from the app'))).toMatch(BLUE)
    expect(await bubble(phone('Ada'), 'Hello from the app').count()).toBe(0)
    await world.setLine(LINE, { config: {} })
    await world.advance(10_000)
    await expect.poll(() => state(app()).textContent()).toBe('Delivered')
    await bubble(phone('Ada'), 'Hello from the app').waitFor()
    await phone('Ada').getByText('1 new').waitFor()
    await phone('Ada').getByRole('textbox').focus()
    await expect.poll(() => state(app()).textContent()).toMatch(/^Read \d\d:\d\d$/)
    expect(await phone('Ada').getByText('1 new').count()).toBe(0)
  })

  it('without iMessage the next bubble is green on both ends', async () => {
    await phone('Ada').getByRole('switch', { name: 'iMessage' }).click()
    await expect
      .poll(async () => (await world.get(`/sim/phones/${encodeURIComponent(ADA)}`)).body.imessage)
      .toBe(false)
    await type(phone('Ada'), 'Now as a text')
    await bubble(phone('Ada'), 'Now as a text').waitFor()
    await world.settle()
    expect(await paint(bubble(phone('Ada'), 'Now as a text'))).toMatch(GREEN)
    await phone('Ada').getByText('Text Message · SMS').waitFor()
    await type(app(), 'Answered as a text')
    await bubble(app(), 'Answered as a text').waitFor()
    await world.advance(30_000)
    await expect.poll(() => paint(bubble(app(), 'Answered as a text'))).toMatch(GREEN)
    await expect.poll(() => state(app()).textContent()).toMatch(/^Sent as Text Message/)
    await phone('Ada').getByRole('switch', { name: 'iMessage' }).click()
  })

  it('tapbacks, replies and typing go both ways', async () => {
    await world.send({ content: 'Do you like it?' })
    await world.advance(10_000)
    const asked = phone('Ada').locator('.bubble-row', { hasText: 'Do you like it?' })
    await asked.hover()
    await asked.getByRole('button', { name: 'Actions for Do you like it?' }).click()
    await asked.getByRole('button', { name: 'love' }).click()
    await asked.getByRole('img', { name: 'You: love' }).waitFor()
    await world.settle()
    await app().getByRole('img', { name: 'Ada: love' }).waitFor()
    // The text that carries the tapback to the line has no bubble.
    expect(await page.getByText('Loved “Do you like it?”').count()).toBe(0)

    await asked.getByRole('button', { name: 'Actions for Do you like it?' }).click()
    await asked.getByRole('button', { name: 'Reply' }).click()
    await page.keyboard.type('Very much')
    await app().getByRole('img', { name: 'Typing' }).waitFor()
    await page.keyboard.press('Enter')
    await world.settle()
    await phone('Ada').locator('.bubble-row', { hasText: 'Very much' }).locator('.quote').waitFor()
    await app().locator('.bubble-row', { hasText: 'Very much' }).getByText('You', { exact: true }).waitFor()
    await expect.poll(() => app().getByRole('img', { name: 'Typing' }).count()).toBe(0)
    const record = (await world.get('/api/v2/messages?limit=1')).body.data[0]
    expect(record).toMatchObject({ content: 'Very much', reply_to: { message_handle: expect.any(String) } })

    await app().getByRole('textbox').fill('I am wri')
    await phone('Ada').getByRole('img', { name: 'Typing' }).waitFor()
    await app().getByRole('textbox').fill('')
    await expect.poll(() => phone('Ada').getByRole('img', { name: 'Typing' }).count()).toBe(0)
  })

  it('a group is created on a phone, used by everyone, renamed and left', async () => {
    await page.getByRole('button', { name: 'Eve' }).click()
    await world.setPhone(EVE, { refuses: false })
    await world.post('/sim/phones', { number: '+12025550106', name: 'Finn' })
    await phone('Ada').getByRole('button', { name: 'All messages' }).click()
    await phone('Ada').getByRole('button', { name: 'New group' }).click()
    await phone('Ada').getByLabel('Name').fill('Trip')
    for (const name of ['Eve', 'Finn']) await phone('Ada').getByLabel(name).check()
    await phone('Ada').getByRole('button', { name: 'Create group' }).click()
    await phone('Ada').getByRole('button', { name: /^Trip/ }).click()
    await world.settle()
    await phone('Ada').getByText('You started the conversation.').waitFor()
    await type(phone('Ada'), 'Who is in?')
    await world.advance(1000)
    await bubble(phone('Eve'), 'Who is in?').waitFor()
    expect(await phone('Eve').locator('.sender').textContent()).toBe('Ada')
    await type(phone('Eve'), 'Me!')
    await world.advance(1000)
    await bubble(phone('Ada'), 'Me!').waitFor()
    await app().getByRole('combobox', { name: 'To' }).selectOption({ label: 'Trip' })
    await bubble(app(), 'Me!').waitFor()
    await type(app(), 'Me too')
    await world.advance(10_000)
    await bubble(phone('Eve'), 'Me too').waitFor()
    await phone('Eve').getByRole('button', { name: 'Group', exact: true }).click()
    await phone('Eve').getByLabel('Group name').fill('Trip to Rome')
    await phone('Eve').getByRole('button', { name: 'Rename' }).click()
    await phone('Ada').getByText('Eve named the conversation “Trip to Rome”.').waitFor()
    expect((await world.get('/sim/groups')).body.data[0].name).toBe('Trip to Rome')
    await phone('Eve').getByRole('button', { name: 'Group', exact: true }).click()
    await phone('Eve').getByRole('button', { name: 'Leave group' }).click()
    await phone('Ada').getByText('Eve left the conversation.').waitFor()
    await app().getByRole('combobox', { name: 'To' }).selectOption({ label: 'Ada' })
  })

  it('a call rings on the screen and is hung up', async () => {
    await page.getByRole('button', { name: 'Bob', exact: true }).click()
    await world.call('PUT', `/api/lines/${encodeURIComponent(LINE)}/call-forwarding`, {
      body: { forwarding_number: BOB },
    })
    await page.getByRole('button', { name: 'Bob', exact: true }).click()
    await world.post('/sim/calls', { from: LINE, to: BOB })
    await phone('Bob').getByText('Incoming call').waitFor()
    await phone('Bob').getByRole('button', { name: 'Answer' }).click()
    await phone('Bob').getByText('Connected').waitFor()
    await phone('Bob').getByRole('button', { name: 'Hang up' }).click()
    await phone('Bob').getByRole('textbox').waitFor()
    expect((await world.get('/sim/calls')).body.data[0]).toMatchObject({
      state: 'ended',
      outcome: 'COMPLETED',
    })
  })

  it('a failed send links to the page of its message', async () => {
    await world.setPhone(BOB, { refuses: true })
    await app().getByRole('combobox', { name: 'To' }).selectOption({ label: 'Bob' })
    await type(app(), 'Nobody wants this')
    await world.advance(120_000)
    const failed = app().locator('.bubble-row', { hasText: 'Nobody wants this' })
    const link = failed.getByRole('link', { name: 'Not Delivered' })
    expect(await link.getAttribute('href')).toMatch(/^\/console\/messages\/[\w-]+$/)
    await world.setPhone(BOB, { refuses: false })
  })

  it('a phone is added, and the visible phones are in the address', async () => {
    await page.getByRole('button', { name: 'Add phone' }).click()
    await page.getByLabel('Name').fill('Grace')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await phone('Grace').waitFor()
    await page.reload()
    await phone('Grace').waitFor()
    await phone('Grace').getByRole('button', { name: "Hide Grace's phone" }).click()
    await expect.poll(() => phone('Grace').count()).toBe(0)
  })

  it('shows the send request as a curl command', async () => {
    await page.getByText('Send with curl').click()
    const command = await page.getByRole('region', { name: 'Command' }).textContent()
    expect(command).toContain(`${world.app.url()}/api/send-message`)
    expect(command).toContain('"sb-api-key-id: dev-live-key"')
  })

  it('messages to a phone that is off arrive when it is on again', async () => {
    await phone('Ada').getByRole('switch', { name: 'On' }).click()
    await phone('Ada').getByText('Switched off').waitFor()
    await world.send({ content: 'Are you there?' })
    await world.advance(10_000)
    const switched = page.waitForResponse((response) => response.request().method() === 'PATCH')
    await phone('Ada').getByRole('button', { name: 'Switch on' }).click()
    await switched
    await world.advance(1000)
    await bubble(phone('Ada'), 'Are you there?').waitFor()
  })

  it('the top bar advances the time', async () => {
    const before = Date.parse((await world.get('/sim/clock')).body.now)
    await page.getByRole('button', { name: 'Advance time' }).click()
    await page.getByRole('button', { name: '+ 1 day' }).click()
    await page.getByText('Time advanced by 1 day').waitFor()
    expect(Date.parse((await world.get('/sim/clock')).body.now) - before).toBe(86_400_000)
  })

  it('faults are switched on and off, with a banner while one is on', async () => {
    await page.getByRole('button', { name: 'Faults' }).click()
    await page.getByRole('switch', { name: 'receipt-lost' }).click()
    const banner = page.getByRole('alert').filter({ hasText: 'receipt-lost' })
    await banner.waitFor()
    expect((await world.get('/sim/faults')).body.active).toBe(true)
    await page.keyboard.press('Escape')
    await banner.getByRole('button', { name: 'Switch off' }).click()
    await expect.poll(() => banner.count()).toBe(0)
    expect((await world.get('/sim/faults')).body.active).toBe(false)
  })

  it('the world is reset after a confirmation', async () => {
    await page.getByRole('button', { name: 'Reset world' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click()
    await expect.poll(() => page.locator('.bubble').count()).toBe(0)
    expect((await world.get('/api/v2/messages')).body.data).toEqual([])
    await page.getByText('Live', { exact: true }).waitFor()
  })

  it('a phone sends media, an effect, a location and STOP', async () => {
    const ada = phone('Ada')
    await ada
      .locator('input[type=file]')
      .setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: DOT })
    await ada.getByText('dot.png').waitFor()
    await ada.getByLabel('Send with effect').selectOption('slam')
    await type(ada, 'Look')
    await world.settle()
    await ada.getByText('Sent with Slam').waitFor()
    const loaded = (where: Locator) =>
      where.locator('img.photo').evaluate((image) => (image as Json).naturalWidth as number)
    await expect.poll(() => loaded(ada)).toBe(1)
    await expect.poll(() => loaded(app())).toBe(1)
    const [record] = (await world.get('/api/v2/messages?limit=1')).body.data
    expect(record.content).toBe('Look')
    const details = (await world.get(`/v3/messages/${record.message_handle}`)).body.data
    expect(details.message.send_style).toBe('slam')
    expect(record.media_url).toMatch(/\.png$/)

    const shares = async () =>
      (await world.get(`/sim/phones/${encodeURIComponent(ADA)}/location`)).body.data.length
    await ada.getByRole('button', { name: "Settings of Ada's phone" }).click()
    await ada.getByRole('button', { name: 'Share location' }).click()
    await ada.getByRole('button', { name: 'Stop sharing location' }).waitFor()
    expect(await shares()).toBe(1)
    await world.settle()
    await app().getByText('Shared location').waitFor()
    await ada.getByRole('button', { name: 'Stop sharing location' }).click()
    await expect.poll(shares).toBe(0)
    await ada.getByRole('button', { name: 'Opt out (STOP)' }).click()
    await bubble(ada, 'STOP').waitFor()
    await world.settle()
    expect((await world.send({ content: 'Unwanted' })).opted_out).toBe(true)
  })

  it('the browser logged no error, and no request left the origin', () => {
    expect(tab.complaints).toEqual([])
  })
})

describe('the page of the phones', () => {
  let world: World
  let browser: Browser
  beforeAll(async () => {
    world = await createWorld('sqlite')
    browser = await launchBrowser()
    for (const number of [ADA, BOB]) await world.send({ number, content: `Hello ${number}` })
    await world.text(ADA, 'Hi')
    await world.advance(60_000)
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })

  it.each(['light', 'dark'] as const)('has no serious accessibility fault in %s', async (colorScheme) => {
    const { page, close } = await openConsole(browser, world, '/phones', { colorScheme, bypassCSP: true })
    await page.getByText('Hi', { exact: true }).first().waitFor()
    expect(await accessibilityFaults(page, colorScheme)).toEqual([])
    await page.getByRole('button', { name: "Settings of Ada's phone" }).click()
    await page.getByRole('button', { name: 'Add phone' }).click()
    expect(await accessibilityFaults(page, colorScheme)).toEqual([])
    await close()
  })

  it('sends from a phone by keyboard alone', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/phones?app=off')
    await page.getByText('Hi', { exact: true }).waitFor()
    const focused = () =>
      page.evaluate(() => (globalThis as Json).document.activeElement?.getAttribute('aria-label') ?? '')
    for (let i = 0; i < 60 && !/^Message .* as Ada$/.test(await focused()); i++)
      await page.keyboard.press('Tab')
    expect(await focused()).toMatch(/^Message .* as Ada$/)
    await page.keyboard.type('Without a mouse')
    await page.keyboard.press('Enter')
    await page.locator('.bubble', { hasText: 'Without a mouse' }).waitFor()
    await page.keyboard.press('Escape')
    expect(complaints).toEqual([])
    await close()
  })

  it('fits a small window', async () => {
    const { page, close } = await openConsole(browser, world, '/phones', {
      viewport: { width: 360, height: 740 },
    })
    await page.getByText('Hi', { exact: true }).first().waitFor()
    const overflow = await page.evaluate(() => {
      const { documentElement } = (globalThis as Json).document
      return documentElement.scrollWidth - documentElement.clientWidth
    })
    expect(overflow).toBe(0)
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Phones' }).waitFor()
    await close()
  })

  it('loads less than 250 KB for the first page', async () => {
    const { page, close } = await openConsole(browser, world, '/phones')
    await page.getByText('Hi', { exact: true }).first().waitFor()
    const files: string[] = await page.evaluate(() =>
      (globalThis as Json).performance
        .getEntriesByType('resource')
        .map(({ name }: Json) => new URL(name).pathname)
        .filter((path: string) => path.startsWith('/console/') && path !== '/console/session'),
    )
    const bodies = await Promise.all(
      ['/console/phones', ...files].map(async (path) =>
        Buffer.from(await (await fetch(world.app.url() + path)).arrayBuffer()),
      ),
    )
    const size = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0)
    expect(files.length).toBeGreaterThan(3)
    expect(size).toBeLessThan(250_000)
    await close()
  })

  it('the top bar only shows the time once another account exists', async () => {
    await world.addAccount('clock@example.com', '+12025550188')
    const { page, close } = await openConsole(browser, world, '/phones')
    await page.locator('.clock time').waitFor()
    expect(await page.getByRole('button', { name: 'Advance time' }).count()).toBe(0)
    await close()
  })
})
