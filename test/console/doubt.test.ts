import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { forgetIdentity } from '../support/database-faults/restored.js'
import { launchBrowser } from '../support/web/browser.js'
import { openConsole } from '../support/web/console.js'
import { createWorld, type World } from '../support/world.js'

describe('the console while messages are held after a restore', () => {
  let world: World
  let browser: Browser
  beforeAll(async () => {
    world = await createWorld('sqlite', { line: { config: { state: 'OFFLINE' } } })
    await world.send()
    await world.send()
    await world.restart(undefined, () => forgetIdentity(world))
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })

  it('shows administrators how many, and which command decides', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/phones')
    const banner = page.getByRole('alert')
    await banner.waitFor()
    expect(await banner.textContent()).toMatch(/2 messages are held.*trunkline recover/)
    expect(complaints).toEqual([])
    await close()
  })
})
