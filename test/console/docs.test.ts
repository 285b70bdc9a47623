import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/web/browser.js'
import { createWorld, type Json, type World } from '../support/world.js'

describe('the reference page', () => {
  let world: World
  let browser: Browser
  beforeAll(async () => {
    world = await createWorld('sqlite', { realTime: true, document: true })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })

  it('shows every operation, tries one out, and loads nothing from other servers', async () => {
    const page = await browser.newPage({ viewport: { width: 1200, height: 900 } })
    const elsewhere: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(world.app.url()) && !request.url().startsWith('data:'))
        elsewhere.push(request.url())
    })
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(`${world.app.url()}/docs`)
    await page.getByText('Send a message', { exact: true }).waitFor({ timeout: 40_000 })
    const { paths, webhooks } = world.app.server.swagger() as Json
    const operations = Object.values<Json>({ ...paths, ...webhooks }).flatMap((path) => Object.keys(path))
    expect(await page.locator('.opblock').count()).toBe(operations.length)
    expect(await page.locator('.opblock-tag').first().getAttribute('data-tag')).toBe('Messages')

    const live = page.locator('#operations-Operations-getLiveness')
    await live.getByText('Is the process alive?').click()
    await live.getByRole('button', { name: 'Execute' }).click()
    await live
      .locator('.live-responses-table tbody .response-col_status')
      .getByText('200')
      .waitFor({ timeout: 40_000 })

    const backdrop = () =>
      page.evaluate(`[document.body, document.querySelector('.swagger-ui')].map((part) => {
        const [r, g, b, alpha = 1] = getComputedStyle(part).backgroundColor.match(/[\\d.]+/g).map(Number)
        return alpha === 0 ? 'none' : r + g + b < 384 ? 'dark' : 'light'
      })`)
    expect(await backdrop()).toEqual(['light', 'none'])
    await page.emulateMedia({ colorScheme: 'dark' })
    // The page hears of the change with its next frame.
    await page.locator('html.dark-mode').waitFor()
    expect(await backdrop()).toEqual(['dark', 'dark'])
    expect(elsewhere).toEqual([])
    expect(complaints).toEqual([])
  })
})
