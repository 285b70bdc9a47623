import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/web/browser.js'
import { openConsole } from '../support/web/console.js'
import { createWorld, LINE, type World } from '../support/world.js'

describe('keys and tokens in the console', () => {
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

  const secretOf = (page: import('playwright-core').Page, name: string) =>
    page.locator(`[data-secret="${name}"]`).textContent()

  it('creates a key, shows its secret once, and revokes it', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/keys')
    await page.getByRole('table', { name: 'Budgets' }).getByText('contacts', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('Label', { exact: true }).fill('A test')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page
      .getByText('Copy the secret now. Trunkline stores only its hash and cannot show it again.')
      .waitFor()
    const key = {
      id: (await secretOf(page, 'Key ID')) as string,
      secret: (await secretOf(page, 'Secret')) as string,
    }
    expect((await world.get('/api/lines', key)).body.numbers).toContain(LINE)
    await page.getByRole('button', { name: 'Done' }).click()
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

  it('shows the usage by day beside the budgets', async () => {
    await world.send({ content: 'counted' })
    const { page, complaints, close } = await openConsole(browser, world, '/keys')
    const table = page.getByRole('table', { name: 'Usage by day' })
    const row = table.getByRole('row').filter({ hasText: LINE })
    await row.waitFor()
    expect(await row.getByRole('cell').nth(2).textContent()).toBe('1')
    expect(complaints).toEqual([])
    await close()
  })

  it('creates a token for one line and revokes it', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/keys')
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByLabel('Valid for').selectOption('3600')
    await page.getByRole('switch', { name: LINE }).check()
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const token = { token: (await secretOf(page, 'Token')) as string }
    expect((await world.get('/api/lines', token)).body).toEqual({ numbers: [LINE] })
    await page.getByRole('button', { name: 'Done' }).click()
    const table = page.getByRole('table', { name: 'Temporary tokens' })
    await table.getByText('active').waitFor()
    await table.getByRole('button', { name: /^Revoke/ }).click()
    await table.getByText('revoked').waitFor()
    expect((await world.get('/api/lines', token)).status).toBe(401)
    expect(complaints).toEqual([])
    await close()
  })

  it('shows code in four languages, each with its own address', async () => {
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
