import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Driver } from '../../src/drivers/contract.js'
import { createSmsc, type Smsc } from '../peers/smsc.js'
import { dumpOf } from '../support/dump.js'
import { eventually } from '../support/server.js'
import { launchBrowser } from '../support/web/browser.js'
import { accessibilityFaults, openConsole } from '../support/web/console.js'
import { createWorld, type Json, type World } from '../support/world.js'

const NUMBER = '+13105550181'
const SECRET = 'xyzzy-7'

describe('lines in the console', () => {
  let world: World
  let browser: Browser
  let smsc: Smsc
  beforeAll(async () => {
    ;[world, browser, smsc] = await Promise.all([
      createWorld('sqlite', { realTime: true, isReal: true }),
      launchBrowser(),
      createSmsc(),
    ])
    const drivers = world.app.ctx.drivers as Map<string, Driver>
    drivers.set('smpp', {
      ...drivers.get('smpp')!,
      probe: async ({ config }) =>
        config.port === smsc.port
          ? [{ ok: true, what: `The carrier let us in as ${config.system_id}` }]
          : [{ ok: false, what: `Nobody listens on port ${config.port}`, advice: 'Ask for the port' }],
    })
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
    await smsc?.close()
  })
  const smppLine = async () =>
    (await world.get('/admin/lines', 'admin')).body.data.find((one: Json) => one.driver === 'smpp')
  const passwords = () =>
    smsc.heard.filter(({ command }) => command.startsWith('bind_')).map(({ password }) => password)

  it('lets an administrator add, test and change a line', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/lines', {
      bypassCSP: true,
      expected: /status of 400/,
    })
    await page.getByRole('button', { name: 'Add line' }).click()
    await page.getByLabel('Driver').selectOption({ label: 'SMS through an SMSC or aggregator (SMPP 3.4)' })
    await page.getByLabel('Number').fill(NUMBER)
    await page.getByLabel('Host').fill('127.0.0.1')
    await page.getByLabel('Port').fill('70000')
    // Every field shows its own error.
    await page.getByRole('dialog').getByRole('button', { name: 'Add line' }).click()
    await page.getByText('Must be a whole number from 1 to 65535').waitFor()
    expect(await page.getByLabel('Port').getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByText('Is required', { exact: true }).count()).toBe(2)
    expect(await accessibilityFaults(page)).toEqual([])

    await page.getByLabel('Port').fill('1')
    await page.getByLabel('System ID').fill('me')
    const password = page.getByLabel('Password')
    expect(await password.getAttribute('type')).toBe('password')
    await password.fill(SECRET)
    await page.getByRole('button', { name: 'Test settings' }).click()
    await page.getByText('Nobody listens on port 1').waitFor()
    await page.getByText('Ask for the port').waitFor()
    await page.getByLabel('Port').fill(String(smsc.port))
    await page.getByRole('button', { name: 'Test settings' }).click()
    await page.getByText('The carrier let us in as me').waitFor()
    await page.getByText('More settings').click()
    await page.getByLabel('Alphabet').selectOption('latin1')
    await page.getByRole('dialog').getByRole('button', { name: 'Add line' }).click()
    const card = page.getByRole('article', { name: `Line ${NUMBER}` })
    await card.getByText('Online').waitFor()
    expect((await smppLine()).config).toEqual({
      host: '127.0.0.1',
      port: smsc.port,
      system_id: 'me',
      password: '(kept)',
      alphabet: 'latin1',
    })

    await card.getByRole('button', { name: 'Settings' }).click()
    expect(await page.getByLabel('Password').inputValue()).toBe('')
    expect(await page.getByLabel('Password').getAttribute('placeholder')).toBe('Stored; type to replace it')
    await page.getByText('More settings').click()
    expect(await page.getByLabel('Alphabet').inputValue()).toBe('latin1')
    await page.getByLabel('Window').fill('many')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Must be a whole number from 1 to 1000').waitFor()
    await page.getByLabel('Window').fill('3')
    await page.getByLabel('Alphabet').selectOption('')
    await page.getByRole('button', { name: 'Test settings' }).click()
    await page.getByText('The carrier let us in as me').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Line changed').waitFor()
    const { alphabet, window, password: kept } = (await smppLine()).config
    expect([alphabet, window, kept]).toEqual([undefined, 3, '(kept)'])

    await card.getByRole('button', { name: 'Settings' }).click()
    await page.getByLabel('Password').fill('plugh-7')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Line changed').last().waitFor()
    await eventually(
      async () => passwords(),
      (all) => all.at(-1) === 'plugh-7',
    )
    expect(passwords()).toEqual([SECRET, SECRET, 'plugh-7'])
    expect(complaints).toEqual([])
    const everything = `${world.logs.join('\n')}${await dumpOf(world.app)}${await page.content()}`
    for (const secret of [SECRET, 'plugh-7']) expect(everything).not.toContain(secret)
    await close()
  })

  it('hides line management without an admin key', async () => {
    const { page, close } = await openConsole(browser, world, '', { signedIn: false })
    await page.context().request.post(`${world.app.url()}/console/session`, {
      headers: { 'x-trunkline-console': '1' },
      data: { key_id: 'dev-live-key', secret: 'dev-live-secret' },
    })
    await page.goto(`${world.app.url()}/console/lines`)
    await page.getByRole('article').first().waitFor()
    expect(await page.getByRole('button', { name: 'Add line' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Settings', exact: true }).count()).toBe(0)
    await close()
  })
})
