import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { launchBrowser } from '../support/web/browser.js'
import { accessibilityFaults, type ConsoleTab, openConsole } from '../support/web/console.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, BOB, createWorld, EVE, LINE, type World } from '../support/world.js'

/** How many pixels the page and its content overflow. */
const TOO_WIDE =
  '[document.documentElement.scrollWidth - innerWidth, content.scrollWidth - content.clientWidth]'

/** Every view, filled with data: accessible in light and dark, and no wider than a phone. */
describe('views of the console', () => {
  let world: World
  let browser: Browser
  let sink: Sink
  /** The path of each view, and a text that is visible when it has loaded. */
  let views: Record<string, [path: string, text: string]>
  beforeAll(async () => {
    world = await createWorld('sqlite', { realTime: true })
    sink = await createSink()
    sink.answer((post) => (post.path === '/bad' ? 400 : 200))
    browser = await launchBrowser()
    await world.call('PUT', '/api/account/webhooks', {
      body: {
        webhooks: {
          receive: [{ url: `${sink.url}/${'very-long-path/'.repeat(6)}good`, secret: 'secret' }],
          outbound: [`${sink.url}/bad`],
        },
      },
    })
    const text = 'A long text without an end '.repeat(6) + 'x'.repeat(200)
    await world.post('/api/v2/contacts', { number: ADA, first_name: 'Ada', tags: ['vip'] })
    const sent = await world.send({ number: ADA, content: text, status_callback: `${sink.url}/bad` })
    await world.send({ number: BOB })
    await world.send({ number: EVE })
    await world.text(ADA, text)
    await world.post('/v3/auth/tokens', { phone_number: LINE })
    await world.post('/sim/calls', { from: LINE, to: BOB })
    const failed = async () => (await world.get('/v3/webhook-deliveries?status=failed')).body.data
    await vi.waitUntil(async () => (await failed()).length > 0, { timeout: 60_000 })
    const delivery = (await failed())[0].id
    const request = (await world.get('/v3/requests')).body.data[0].id
    views = {
      overview: ['/overview', 'Queues now'],
      'overview of an hour': ['/overview?window=1h', 'Queues now'],
      conversations: ['/conversations', `on ${LINE}`],
      conversation: [
        `/conversations/${encodeURIComponent(ADA)}?line=${encodeURIComponent(LINE)}`,
        'Delivered · iMessage',
      ],
      search: ['/messages', 'Searched back to'],
      message: [`/messages/${sent.message_handle}`, 'Message as JSON'],
      contacts: ['/contacts', 'vip'],
      calls: ['/calls', 'outbound'],
      webhooks: ['/webhooks', 'message.updated'],
      delivery: [`/webhooks/deliveries/${delivery}`, 'Response'],
      requests: ['/requests', 'POST /api/send-message'],
      'a request': [`/requests/${request}`, 'Request id'],
      events: ['/events', 'message.received'],
      keys: ['/keys', 'active'],
      lines: ['/lines', 'Received today'],
      audit: ['/audit', 'PUT /api/account/webhooks'],
    }
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
    await sink?.close()
  })

  /** Opens a view and waits until it has loaded. */
  async function show({ page, open }: ConsoleTab, [path, text]: [string, string]) {
    await open(path)
    await page.getByText(text).filter({ visible: true }).first().waitFor()
    await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(0)
  }

  it('have no serious accessibility fault, and fit into the window of a phone', {
    timeout: 180_000,
  }, async () => {
    const tab = await openConsole(browser, world, '', { bypassCSP: true })
    for (const [name, view] of Object.entries(views)) {
      await tab.page.setViewportSize({ width: 1440, height: 900 })
      await show(tab, view)
      expect([name, await accessibilityFaults(tab.page)]).toEqual([name, []])
      for (const width of [390, 360]) {
        await tab.page.setViewportSize({ width, height: 780 })
        await expect.poll(() => tab.page.evaluate(TOO_WIDE), { message: name }).toEqual([0, 0])
      }
    }
    expect(tab.complaints).toEqual([])
    await tab.close()
  })

  it('have enough contrast in dark', async () => {
    const tab = await openConsole(browser, world, '', { colorScheme: 'dark', bypassCSP: true })
    for (const [name, view] of Object.entries(views)) {
      await show(tab, view)
      expect([name, await accessibilityFaults(tab.page, 'dark')]).toEqual([name, []])
    }
    expect(tab.complaints).toEqual([])
    await tab.close()
  })

  it('open by keyboard alone', async () => {
    const tab = await openConsole(browser, world, '/overview')
    await tab.page.getByRole('heading', { name: 'Sends by status' }).waitFor()
    for (const [letter, title] of [
      ['k', 'Keys and tokens'],
      ['w', 'Webhooks'],
      ['l', 'Lines'],
      ['c', 'Conversations'],
      ['o', 'Overview'],
    ]) {
      await tab.page.keyboard.press('g')
      await tab.page.keyboard.press(letter!)
      await tab.page.getByRole('heading', { name: title!, level: 1 }).waitFor()
    }
    expect(tab.complaints).toEqual([])
    await tab.close()
  })

  it('show the numbers of every chart in a table', async () => {
    const tab = await openConsole(browser, world, '/overview?window=1h')
    await tab.page.getByText('Show as table').first().click()
    const table = tab.page.getByRole('region', { name: 'Sends by status as a table' })
    await table.waitFor()
    const { sends } = (await world.get('/v3/overview?window=1h')).body.data
    expect(await table.getByRole('row').count()).toBe(1 + sends.steps.length)
    const last = await table.getByRole('row').last().getByRole('cell').allTextContents()
    const { delivered, sent, waiting, failed } = sends.steps.at(-1)
    expect(last.map(Number)).toEqual([delivered, sent, waiting, failed])
    expect(tab.complaints).toEqual([])
    await tab.close()
  })
})
