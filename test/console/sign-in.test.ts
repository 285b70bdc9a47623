import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/web/browser.js'
import { accessibilityFaults, openConsole } from '../support/web/console.js'
import { createWorld, type World } from '../support/world.js'

describe('signing in to the console', () => {
  let world: World
  let browser: Browser
  beforeAll(async () => {
    world = await createWorld('sqlite')
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })

  it('explains a wrong key and accepts a right one', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/phones', {
      signedIn: false,
      expected: /401/,
    })
    await page.getByLabel('Key ID').fill('dev-live-key')
    await page.getByLabel('Secret').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByRole('alert').textContent()).toBe(
      'Unknown key ID or wrong secret. Check both; revoked keys cannot sign in.',
    )
    await page.getByLabel('Secret').fill('dev-live-secret')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Phones' }).waitFor()
    await page.getByText('live key').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it('signs in with the development keys in one click, and signs out', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '', { signedIn: false })
    await page.getByRole('button', { name: 'Use the development keys' }).click()
    await page.getByText('live and admin key').waitFor()
    await expect.poll(() => new URL(page.url()).pathname).toBe('/console/phones')
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({
      name: 'trunkline_session',
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      secure: false,
    })
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Trunkline' }).waitFor()
    expect(await page.context().cookies()).toEqual([])
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in to Trunkline' }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it.each(['light', 'dark'] as const)('has no serious accessibility fault in %s', async (colorScheme) => {
    const tab = await openConsole(browser, world, '', { signedIn: false, colorScheme, bypassCSP: true })
    await tab.page.getByRole('heading', { name: 'Sign in to Trunkline' }).waitFor()
    expect(await accessibilityFaults(tab.page, colorScheme)).toEqual([])
    await tab.close()
  })
})
