import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/web/browser.js'
import { openConsole } from '../support/web/console.js'
import { ADA, createWorld, LINE, type World } from '../support/world.js'

const HOSTILE = ['data:text/html,<script>alert(1)</script>', 'vbscript:msgbox(1)', 'javascript:alert(1)']

describe('media URLs that attack the console', () => {
  let world: World
  let browser: Browser
  beforeAll(async () => {
    world = await createWorld('sqlite', { realTime: true })
    browser = await launchBrowser()
    await world.text(ADA, 'first')
    await world.settle()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })

  /** The API refuses such URLs from users; a carrier or an older version may have stored one. */
  const plant = async (url: string) => {
    for (const table of ['messages', 'phone_messages'])
      await world.app.ctx.db.run(`update ${table} set media_url = $1`, [url])
  }
  const views = async () => {
    const handle = (await world.arrived(LINE, ADA))[0].message_handle
    return {
      '/phones': 'Your app',
      [`/messages/${handle}`]: 'Message as JSON',
      [`/conversations/${encodeURIComponent(ADA)}?line=${encodeURIComponent(LINE)}`]: 'first',
    }
  }
  const linksOf = (links: unknown[]) => links.map((link) => (link as { href?: string }).href ?? '')

  it.each(HOSTILE)('%s is never rendered as a link', async (url) => {
    await plant(url)
    const { page, open, complaints, close } = await openConsole(browser, world, '')
    for (const [path, text] of Object.entries(await views())) {
      await open(path)
      await page.getByText(text).first().waitFor()
      await page.getByText('first').first().waitFor()
      const links = await page.locator('a').evaluateAll(linksOf)
      expect(links.filter((link) => !/^https?:/.test(link))).toEqual([])
    }
    expect(complaints).toEqual([])
    await close()
  })

  it.each(['https://files.example.com/%zz', 'https://files.example.com/%E0%A4%A'])(
    'the malformed escape in %s breaks no view',
    async (url) => {
      await plant(url)
      const { page, open, complaints, close } = await openConsole(browser, world, '')
      for (const [path, text] of Object.entries(await views())) {
        await open(path)
        await page.getByText(text).first().waitFor()
        await page.getByText('first').first().waitFor()
      }
      expect(complaints).toEqual([])
      await close()
    },
  )

  it('a malformed escape in an address of the console breaks nothing', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/overview', { expected: /40[04]/ })
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await page.evaluate(
      `history.pushState(null, '', '/console/messages/%zz'); dispatchEvent(new Event('popstate'))`,
    )
    await page.getByRole('alert').waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it('text can become markup or script nowhere: the policy requires trusted types and allows none', async () => {
    const { page, close } = await openConsole(browser, world, '/overview', { expected: /Trusted/i })
    const tried = await page.evaluate(() => {
      const { document } = globalThis as unknown as { document: { body: { innerHTML: string } } }
      try {
        document.body.innerHTML = '<img src=x onerror=alert(1)>'
        return 'rendered'
      } catch (error) {
        return (error as Error).name
      }
    })
    expect(tried).toBe('TypeError')
    await close()
  })
})
