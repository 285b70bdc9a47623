import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/web/browser.js'
import { openConsole } from '../support/web/console.js'
import { ADA, BOB, createWorld, type World } from '../support/world.js'

describe('contacts and events in the console', () => {
  let world: World
  let browser: Browser
  beforeAll(async () => {
    world = await createWorld('sqlite', { realTime: true })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })

  const contact = async (number: string) =>
    (await world.get(`/api/v2/contacts?phone_number=${encodeURIComponent(number)}`)).body[0]

  it('creates, changes, opts out, finds and deletes a contact', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/contacts')
    await page.getByRole('button', { name: 'New contact' }).click()
    await page.getByLabel('Number').fill(BOB)
    await page.getByLabel('First name').fill('Bob')
    await page.getByLabel('Tags').fill('beta, vip')
    await page.getByRole('button', { name: 'Add variable' }).click()
    await page.getByLabel('Label 1').fill('City')
    await page.getByLabel('Value 1').fill('Paris')
    await page.getByRole('button', { name: 'Create' }).click()
    const table = page.getByRole('table', { name: 'Contacts' })
    await table.getByText('vip').waitFor()
    expect(await contact(BOB)).toMatchObject({
      first_name: 'Bob',
      tags: ['beta', 'vip'],
      custom_variables: { City: 'Paris' },
      opt_out: false,
    })

    await table.getByRole('switch', { name: 'Bob has opted out' }).check()
    await expect.poll(async () => (await contact(BOB)).opt_out).toBe(true)
    const { message_handle: handle } = await world.send({ number: BOB })
    await expect.poll(async () => (await world.record(handle)).status).toBe('ERROR')

    await table.getByRole('button', { name: 'Bob' }).click()
    await page.getByLabel('Last name').fill('Kahn')
    await page.getByRole('button', { name: 'Save' }).click()
    await table.getByRole('button', { name: 'Bob Kahn' }).waitFor()
    await page.getByRole('searchbox', { name: 'Search contacts' }).fill('nobody')
    await page.getByText('No contacts found').waitFor()
    await page.getByRole('searchbox', { name: 'Search contacts' }).fill('paris')
    await table.getByRole('button', { name: 'Bob Kahn' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).last().click()
    await page.getByText('Contact deleted').waitFor()
    expect(await contact(BOB)).toBeUndefined()
    expect(complaints).toEqual([])
    await close()
  })

  it('shows the error message of the server', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/contacts', { expected: /400/ })
    await page.getByRole('button', { name: 'New contact' }).click()
    await page.getByLabel('Number').fill('12')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Invalid phone number').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it('shows events as they happen, and filters, pauses and expands them', async () => {
    await world.text(ADA, 'before the page was opened')
    const { page, complaints, close } = await openConsole(browser, world, '/events')
    const list = page.getByRole('list', { name: 'Events, newest first' })
    await list.getByText('before the page was opened').waitFor()
    await world.text(ADA, 'while it is open')
    await list.getByText('while it is open').waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await world.text(ADA, 'while it is paused')
    await page.getByRole('button', { name: 'Resume (1 new)' }).waitFor()
    expect(await list.getByText('while it is paused').count()).toBe(0)
    await page.getByRole('button', { name: /^Resume/ }).click()
    await list.getByText('while it is paused').click()
    await list.getByText('"occurred_at"').waitFor()
    await page.getByRole('textbox', { name: 'Filter' }).fill('"while it is open"')
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1)
    expect(new URL(page.url()).searchParams.get('type')).toBe('"while it is open"')
    expect(complaints).toEqual([])
    await close()
  })
})
