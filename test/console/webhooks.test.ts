import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/web/browser.js'
import { openConsole } from '../support/web/console.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, createWorld, type World } from '../support/world.js'

describe('webhooks in the console', () => {
  let world: World
  let browser: Browser
  let sink: Sink
  beforeAll(async () => {
    world = await createWorld('postgres', { realTime: true })
    sink = await createSink()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
    await sink?.close()
  })

  it('adds, tests, rotates and removes a webhook', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/webhooks')
    await page.getByRole('button', { name: 'Add webhook' }).click()
    await page.getByLabel('URL').fill(`${sink.url}/hook`)
    await page.getByRole('button', { name: 'Generate secret' }).click()
    const secret = await page.getByLabel('Signing secret').inputValue()
    expect(secret).toMatch(/^whsec_[\dA-Za-z=]{32}$/)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('signed', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'Test' }).click()
    await expect.poll(() => sink.received.length).toBe(1)
    expect(sink.received[0]).toMatchObject({
      path: '/hook',
      body: { content: 'A test of the webhook', is_outbound: false },
      headers: { 'webhook-signature': expect.stringMatching(/^v1,/), 'sb-signing-secret': secret },
    })
    await page.getByRole('table', { name: 'Webhook deliveries' }).getByText('Delivered').waitFor()

    await page.getByRole('button', { name: `Change ${sink.url}/hook` }).click()
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    const rotated = await page.getByLabel('Signing secret').inputValue()
    expect(rotated).not.toBe(secret)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Webhook changed').waitFor()
    const { webhooks } = (await world.get('/api/account/webhooks')).body
    expect(webhooks.receive).toEqual([{ url: `${sink.url}/hook`, secret: rotated }])

    await page.getByRole('button', { name: `Remove ${sink.url}/hook` }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('No webhooks yet').waitFor()
    expect((await world.get('/api/account/webhooks')).body.webhooks.receive ?? []).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })

  it('points out a short secret, and shows and rotates the signing secret of status callbacks', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/webhooks')
    await page.getByRole('button', { name: 'Add webhook' }).click()
    await page.getByLabel('URL').fill(`${sink.url}/short`)
    await page.getByLabel('Signing secret').fill('too short')
    await page.getByText('could be guessed').waitFor()
    await page.getByText('Also send the secret itself').click()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('short secret', { exact: true }).waitFor()
    const { webhooks } = (await world.get('/api/account/webhooks')).body
    expect(webhooks.receive).toEqual([
      { url: `${sink.url}/short`, secret: 'too short', legacy_secret_header: false },
    ])
    const secret = async () => (await world.get('/v3/signing-secret')).body.data.secret
    const before = await secret()
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText(before, { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Rotate signing secret' }).click()
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await page.getByText('The previous secret signs, too').waitFor()
    await page.getByText(await secret(), { exact: true }).waitFor()
    expect(await secret()).not.toBe(before)
    expect(complaints).toEqual([])
    await close()
  })

  it('replays failed deliveries', async () => {
    await world.call('PUT', '/api/account/webhooks', {
      body: { webhooks: { receive: [`${sink.url}/later`] } },
    })
    let isBroken = true
    sink.answer((_post, reply) => {
      if (!isBroken) return 200
      reply.writeHead(400, { 'content-type': 'text/plain' }).end('not <b>today</b>')
      return undefined
    })
    sink.received.length = 0
    await world.text(ADA, 'is anybody there?')
    const { page, complaints, close } = await openConsole(browser, world, '/webhooks?status=failed')
    const table = page.getByRole('table', { name: 'Webhook deliveries' })
    await table.getByText('Failed', { exact: true }).waitFor()
    expect(await table.getByRole('row').count()).toBe(2)

    await table.getByRole('link').first().click()
    await page.getByText('Attempt 1', { exact: true }).waitFor()
    await page.getByText('not <b>today</b>').waitFor()
    await page.getByRole('region', { name: 'Request body' }).getByText('is anybody there?').waitFor()
    await page.getByText('webhook-timestamp', { exact: true }).waitFor()
    isBroken = false
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('Attempt 2', { exact: true }).waitFor()
    await page.getByText('Delivered', { exact: true }).waitFor()
    expect(sink.received.map(({ path, body }) => [path, body.content])).toEqual([
      ['/later', 'is anybody there?'],
      ['/later', 'is anybody there?'],
    ])
    // A replay keeps the webhook-id, so that the receiver can recognise duplicates.
    expect(sink.received[1]!.headers['webhook-id']).toBe(sink.received[0]!.headers['webhook-id'])

    isBroken = true
    for (const content of ['one', 'two']) await world.text(ADA, content)
    await page.goto(`${world.app.url()}/console/webhooks?status=failed`)
    await expect.poll(() => table.getByText('Failed', { exact: true }).count()).toBe(2)
    isBroken = false
    await page.getByRole('button', { name: 'Replay all failed' }).click()
    await page.getByText('2 deliveries replayed').waitFor()
    await page.getByText('No delivery matches these filters.').waitFor()
    expect(complaints).toEqual([])
    await close()
  })
})
