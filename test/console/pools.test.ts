import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/web/browser.js'
import { accessibilityFaults, openConsole } from '../support/web/console.js'
import { createWorld, type Json, type World } from '../support/world.js'

const NUMBERS = ['+12025550171', '+12025550172', '+12025550173'] as const
const [BUSY, FREE, OWN] = NUMBERS

describe('sender pools in the console', () => {
  let world: World
  let browser: Browser
  beforeAll(async () => {
    ;[world, browser] = await Promise.all([createWorld('sqlite', { realTime: true }), launchBrowser()])
    const accounts = (await world.get('/admin/accounts', 'admin')).body.data
    const add = async (number: string): Promise<string> => {
      const line = { account_id: accounts[0].id, number, driver: 'simulator', config: {} }
      // One message in an hour: the others wait.
      const made = await world.post('/admin/lines', { ...line, pace: 1, pace_unit: 'hour' }, 'admin')
      expect(made.status, JSON.stringify(made.body)).toBe(201)
      return made.body.id
    }
    const ids: Record<string, string> = {}
    for (const number of NUMBERS) ids[number] = await add(number)
    const pool = { name: 'phones', lines: [ids[BUSY], ids[FREE]] }
    for (let i = 0; i < 4; i++)
      await world.post('/api/send-message', { from_number: BUSY, number: `+1202555011${i}`, content: 'Hi' })
    expect((await world.post('/admin/pools', pool, 'admin')).status).toBe(201)
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })

  it('shows the lines of a pool and their room, and the pool of a line', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/lines', { bypassCSP: true })
    const rows = page.getByRole('table', { name: 'Sender pools' }).getByRole('row')
    await expect.poll(() => rows.count()).toBe(3)
    const waiting = (await world.get('/v3/lines')).body.data.find((one: Json) => one.number === BUSY).queue
    expect(waiting.waiting).toBeGreaterThan(0)
    await expect
      .poll(() => rows.nth(1).innerText())
      .toMatch(new RegExp(`phones.*\\${BUSY}.*Online.*${waiting.waiting}.*free in`, 's'))
    expect(await rows.nth(2).innerText()).toMatch(new RegExp(`\\${FREE}.*Online.*0.*free now`, 's'))
    const card = (number: string) => page.getByRole('article', { name: `Line ${number}` })
    await card(FREE).getByText('In the pool phones').waitFor()
    expect(await card(OWN).getByText('In the pool phones').count()).toBe(0)
    expect(await accessibilityFaults(page)).toEqual([])
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      expect(await page.evaluate(overflow), `${width} px`).toBe(0)
    }
    expect(complaints).toEqual([])
    await close()
  })

  it('shows a line that is down without room', async () => {
    const { data } = (await world.get('/admin/lines', 'admin')).body
    const { id } = data.find((one: Json) => one.number === FREE)
    const block = await world.call('PATCH', `/admin/lines/${id}`, { as: 'admin', body: { blocked: true } })
    expect(block.status, JSON.stringify(block.body)).toBeLessThan(300)
    const { page, close } = await openConsole(browser, world, '/lines')
    const table = page.getByRole('table', { name: 'Sender pools' })
    await table.getByText('none while it is down').waitFor()
    await close()
  })
})
