import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDiallingPhone } from '../peers/smsgate/dialling.js'
import { createSmsGate, type SmsGate } from '../peers/smsgate/smsgate.js'
import { launchBrowser } from '../support/web/browser.js'
import { accessibilityFaults, openConsole } from '../support/web/console.js'
import { createWorld, type World } from '../support/world.js'

const NUMBER = '+12025550180'

/** How many pixels the dialog overflows. */
const overflow = (page: Page) =>
  page.evaluate(
    '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector("dialog"))',
  )

async function fits(page: Page) {
  for (const width of [360, 390, 768, 1280]) {
    await page.setViewportSize({ width, height: 844 })
    await expect.poll(() => overflow(page), { message: `${width} px` }).toBe(0)
  }
}

describe('an Android phone in the console', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  describe('with an https address', () => {
    let world: World
    const phones: ReturnType<typeof createDiallingPhone>[] = []
    beforeAll(async () => {
      world = await createWorld('sqlite', {
        realTime: true,
        env: { TRUNKLINE_PUBLIC_URL: 'https://trunkline.example' },
      })
    })
    afterAll(async () => {
      for (const phone of phones) await phone.close()
      await world?.close()
    })
    const register = async (code: string) => {
      const phone = createDiallingPhone({ base: () => world.app.url() })
      phones.push(phone)
      expect(await phone.register(code)).toBe(201)
    }
    const shownCode = async (page: Page) => {
      await page.getByText(/^\d{6}$/).waitFor()
      return (await page.getByText(/^\d{6}$/).textContent())!
    }

    it('is added, paired while the page watches, given a new code, and removed', async () => {
      const { page, complaints, close } = await openConsole(browser, world, '/lines', {
        bypassCSP: true,
        expected: /status of 400/,
      })
      await page.getByRole('button', { name: 'Add a phone' }).click()
      await page.getByLabel('Number of the SIM').fill('not a number')
      await page.getByRole('button', { name: 'Show the code' }).click()
      await expect.poll(() => page.getByLabel('Number of the SIM').getAttribute('aria-invalid')).toBe('true')
      expect(await accessibilityFaults(page)).toEqual([])
      await fits(page)
      await page.getByLabel('Number of the SIM').fill(NUMBER)
      await page.getByRole('button', { name: 'Show the code' }).click()

      const code = await shownCode(page)
      await page.getByText('https://trunkline.example/mobile/v1').waitFor()
      await page.getByRole('img', { name: 'QR code of the address' }).waitFor()
      await page.getByText(/^The code works for (10:00|9:\d\d)$/).waitFor()
      expect(await page.getByText('The phone is paired').count()).toBe(0)
      expect(await accessibilityFaults(page)).toEqual([])
      await fits(page)
      await register(code)
      await page.getByText('The phone is paired').waitFor()
      await page.getByText(/Google\/oriole, SIM 1 …0180\. /).waitFor()
      expect(await page.getByText('Check which one is right').count()).toBe(0)
      await page.getByRole('button', { name: 'Done' }).click()

      const card = page.getByRole('article', { name: `Line ${NUMBER}` })
      await card.getByText('Online').waitFor()
      await card.getByText(/100 per hour/).waitFor()
      expect(await card.getByRole('button', { name: 'Pair a phone' }).count()).toBe(0)
      const row = page.getByRole('table', { name: 'Phones' }).getByRole('row').nth(1)
      await row.getByText('just now').waitFor()
      expect(await row.getByRole('cell').allTextContents()).toEqual(
        expect.arrayContaining(['Google/oriole', NUMBER, 'just now']),
      )

      // The code ends while the page is open.
      await page.clock.install()
      await row.getByRole('button', { name: 'New code' }).click()
      const second = await shownCode(page)
      expect(second).not.toBe(code)
      await page.clock.fastForward('10:01')
      await page.getByText('The code does not work any more.').waitFor()
      expect(await page.getByText(second).count()).toBe(0)
      await page.getByRole('dialog').getByRole('button', { name: 'New code' }).click()
      await page.getByRole('button', { name: 'Close' }).last().click()
      await page.reload()

      await row.getByRole('button', { name: 'Remove' }).click()
      await page.getByText('Its line stays, and messages wait for another phone.').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
      expect((await world.get('/admin/phones', 'admin')).body.data).toHaveLength(1)
      await row.getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await page.getByText('Phone removed').waitFor()
      expect((await world.get('/admin/phones', 'admin')).body.data).toEqual([])
      await card.getByText('Offline').waitFor()
      await card.getByRole('button', { name: 'Pair a phone' }).click()
      await register(await shownCode(page))
      await page.getByText('The phone is paired').waitFor()
      expect(complaints).toEqual([])
      await close()
    })

    it('with another number than the SIM is noticed', async () => {
      const { page, close } = await openConsole(browser, world, '/lines')
      await page.getByRole('button', { name: 'Add a phone' }).click()
      await page.getByLabel('Number of the SIM').fill('+12025550199')
      await page.getByRole('button', { name: 'Show the code' }).click()
      await register(await shownCode(page))
      await page.getByText(/The line is \+12025550199, but the number of the SIM ends in 0180/).waitFor()
      await close()
    })

    it('is for administrators', async () => {
      const { page, close } = await openConsole(browser, world, '', { signedIn: false })
      await page.context().request.post(`${world.app.url()}/console/session`, {
        headers: { 'x-trunkline-console': '1' },
        data: { key_id: 'dev-live-key', secret: 'dev-live-secret' },
      })
      await page.goto(`${world.app.url()}/console/lines`)
      await page.getByRole('article').first().waitFor()
      expect(await page.getByRole('button', { name: 'Add a phone' }).count()).toBe(0)
      expect(await page.getByRole('button', { name: 'Pair a phone' }).count()).toBe(0)
      expect(await page.getByRole('table', { name: 'Phones' }).count()).toBe(0)
      await close()
    })
  })

  describe('without an https address', () => {
    let world: World
    let phone: SmsGate
    beforeAll(async () => {
      ;[world, phone] = await Promise.all([
        createWorld('sqlite', { realTime: true, isReal: true }),
        createSmsGate(),
      ])
    })
    afterAll(async () => {
      await world?.close()
      await phone?.close()
    })

    it('is dialled in the same network, and the way to an https address is told', async () => {
      const { page, complaints, close } = await openConsole(browser, world, '/lines', { bypassCSP: true })
      const refused = await world.post('/admin/phones', { lines: [{ line_id: 'x' }] }, 'admin')
      await page.getByRole('button', { name: 'Add a phone' }).click()
      await page.getByText(refused.body.error.message).waitFor()
      await page.getByRole('tab', { name: 'From anywhere' }).click()
      await page.getByRole('region', { name: 'Tunnel' }).waitFor()
      expect(await accessibilityFaults(page)).toEqual([])
      await fits(page)
      await page.getByRole('tab', { name: 'In the same network' }).click()
      await page.getByLabel('Number').fill(NUMBER)
      await page.getByLabel('URL', { exact: true }).fill(phone.url)
      await page.getByLabel('Username').fill(phone.username)
      await page.getByLabel('Password').fill(phone.password)
      await page.getByRole('button', { name: 'Test settings' }).click()
      await page
        .getByText(/^Passed: /)
        .first()
        .waitFor({ state: 'attached' })
      expect(await accessibilityFaults(page)).toEqual([])
      await fits(page)
      await page.getByRole('dialog').getByRole('button', { name: 'Add line' }).click()
      await page
        .getByRole('article', { name: `Line ${NUMBER}` })
        .getByText('Online')
        .waitFor()
      expect(complaints).toEqual([])
      await close()
    })
  })
})
