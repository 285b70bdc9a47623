import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/web/browser.js'
import { openConsole } from '../support/web/console.js'
import { createWorld, ENGINES, LINE, type World } from '../support/world.js'

describe.each(ENGINES)('keys and tokens in the console on %s', (engine) => {
  let world: World
  let browser: Browser
  beforeAll(async () => {
    world = await createWorld(engine)
    browser = await launchBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })

  const secretOf = (page: import('playwright-core').Page, name: string) =>
    page.locator(`[data-secret="${name}"]`).textContent()

  it('a key is made, shown once, used and revoked', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/keys')
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByLabel('What it is for').fill('A test')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('it is kept only as a hash').waitFor()
    const key = {
      id: (await secretOf(page, 'Key ID')) as string,
      secret: (await secretOf(page, 'Secret')) as string,
    }
    expect((await world.get('/api/lines', key)).body.numbers).toContain(LINE)
    await page.getByRole('button', { name: 'I have it' }).click()
    await page.getByRole('table', { name: 'Keys' }).getByText('A test').waitFor()
    expect(await page.content()).not.toContain(key.secret)

    await page.getByRole('button', { name: `Revoke ${key.id}` }).click()
    await page.getByRole('button', { name: 'Revoke', exact: true }).last().click()
    await page.getByText('Key revoked').waitFor()
    await page.getByRole('table', { name: 'Keys' }).getByText('revoked', { exact: true }).waitFor()
    expect((await world.get('/api/lines', key)).status).toBe(401)
    expect(complaints).toEqual([])
    await close()
  })

  it('a token is made for a line, used and revoked', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/keys')
    await page.getByRole('button', { name: 'Make a token' }).click()
    await page.getByLabel('Works for').selectOption('3600')
    await page.getByRole('switch', { name: LINE }).check()
    await page.getByRole('button', { name: 'Make', exact: true }).click()
    const token = { token: (await secretOf(page, 'Token')) as string }
    expect((await world.get('/api/lines', token)).body).toEqual({ numbers: [LINE] })
    await page.getByRole('button', { name: 'I have it' }).click()
    const table = page.getByRole('table', { name: 'Temporary tokens' })
    await table.getByText('works').waitFor()
    await table.getByRole('button', { name: /^Revoke/ }).click()
    await table.getByText('revoked').waitFor()
    expect((await world.get('/api/lines', token)).status).toBe(401)
    expect(complaints).toEqual([])
    await close()
  })

  it('has code that can be copied, in four languages, each with an address of its own', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/keys')
    await page.getByText(`SENDBLUE_API_BASE_URL=${world.app.url()}`).waitFor()
    await page.getByRole('tab', { name: 'Python' }).click()
    await page.getByText('import requests').waitFor()
    expect(page.url()).toContain('code=python')
    await page.keyboard.press('ArrowRight')
    await page.getByText('package main').waitFor()
    expect(complaints).toEqual([])
    await close()
  })
})
