import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser } from '../support/web/browser.js'
import { openConsole } from '../support/web/console.js'
import { createSink, type Sink } from '../support/web/sink.js'
import { ADA, BOB, createWorld, EVE, type Json, LINE, type World } from '../support/world.js'

describe('messages in the console', () => {
  let world: World
  let browser: Browser
  let sink: Sink
  beforeAll(async () => {
    world = await createWorld('sqlite', { realTime: true })
    sink = await createSink()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
    await sink?.close()
  })

  it('shows what happened to a message, with every attempt and webhook delivery', async () => {
    const { message_handle: handle } = await world.send({
      number: EVE,
      content: 'never arrives',
      status_callback: `${sink.url}/status`,
    })
    await expect.poll(async () => (await world.record(handle)).status).toBe('ERROR')
    const { page, complaints, close } = await openConsole(browser, world, `/messages/${handle}`)
    const story = (await world.get(`/v3/messages/${handle}/why`)).body.data
    await page.getByText(story.summary.split('.')[0], { exact: false }).first().waitFor()
    await page.getByText('Next step').waitFor()
    const attempts = page.getByRole('table', { name: 'Attempts' })
    await attempts.getByText('Refused', { exact: true }).waitFor()
    const { attempts: tried } = (await world.get(`/v3/messages/${handle}`)).body.data
    expect(await attempts.getByRole('row').count()).toBe(1 + tried.length)
    await attempts.getByText(tried[0].detail).waitFor()
    await page.getByText('Attempt 1 by iMessage', { exact: true }).waitFor()
    await page.getByText(`${sink.url}/status`, { exact: true }).first().click()
    await page.getByRole('region', { name: 'Request body' }).first().waitFor()
    await page.getByText('Status ERROR', { exact: true }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it('cancels a scheduled message', async () => {
    const at = new Date(Date.now() + 86_400_000).toISOString()
    const { message_handle: handle } = await world.send({ number: BOB, content: 'tomorrow', send_at: at })
    const { page, complaints, close } = await openConsole(browser, world, `/messages/${handle}`)
    await page.getByRole('button', { name: 'Cancel send' }).click()
    await page.getByText('Send canceled').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Cancel send' }).count()).toBe(0)
    expect((await world.record(handle)).status).toBe('DECLINED')
    expect(complaints).toEqual([])
    await close()
  })

  it('sends from a conversation and shows the reply as it arrives', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/conversations')
    await page.getByRole('button', { name: 'New message' }).click()
    await page.getByLabel('To', { exact: true }).fill(ADA)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('textbox', { name: 'Message' }).fill('Hello from the console')
    await page.keyboard.press('Enter')
    const log = page.getByRole('log')
    await log.getByText('Hello from the console').waitFor()
    await log.getByText('Delivered · iMessage').waitFor()
    expect((await world.inbox(ADA)).at(-1).content).toBe('Hello from the console')
    expect(new URL(page.url()).pathname).toBe(`/console/conversations/${encodeURIComponent(ADA)}`)
    await world.text(ADA, '<img src=x onerror=alert(1)> hello')
    await log.getByText('<img src=x onerror=alert(1)> hello').waitFor()
    await page
      .getByRole('region', { name: 'Conversations' })
      .getByText('<img src=x onerror=alert(1)> hello')
      .waitFor()
    await log.getByText('Hello from the console').click()
    await page.getByText('What happened').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it('searches with filters, shows errors, and keeps the query in the address', async () => {
    await world.send({ number: BOB, content: 'Your code is 271828' })
    const { page, complaints, close, open } = await openConsole(browser, world, '/messages', {
      expected: /400/,
    })
    const box = page.getByRole('searchbox', { name: 'Search messages' })
    await page.getByRole('table').getByText('Your code is 271828').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(`to:${BOB} "code is"`)
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe(`to:${BOB} "code is"`)
    // A pause after a space keeps the space.
    await box.fill('')
    await box.pressSequentially('code ')
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('code')
    await box.pressSequentially('is')
    expect(await box.inputValue()).toBe('code is')
    await box.fill('is:lost')
    await page.getByRole('alert').getByText('Unknown value "lost" for is:').waitFor()
    await open(`/messages?q=${encodeURIComponent('is:failed')}`)
    await page.getByRole('table').getByText('never arrives').waitFor()
    await page.getByText('Searched back to').waitFor()
    await page.getByRole('button', { name: 'is:inbound' }).click()
    await page.getByText('No messages found').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it('shows the line of the default world and changes its settings', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/lines')
    const line = page.getByRole('article', { name: `Line ${LINE}` })
    await line.getByText('Online').waitFor()
    await line.getByRole('button', { name: 'Call forwarding' }).click()
    await page.getByLabel('Forward calls to').fill(ADA)
    await page.getByRole('button', { name: 'Save' }).click()
    await line.getByText(`Calls are forwarded to ${ADA}`).waitFor()
    await line.getByRole('button', { name: 'Settings' }).click()
    await page.getByLabel('Pace', { exact: true }).fill('180')
    await page.getByLabel('Unit of the pace').selectOption('per hour')
    await page.getByRole('button', { name: 'Save' }).click()
    await line.getByText('180 per hour').waitFor()
    expect((await world.get('/v3/lines')).body.data[0]).toMatchObject({
      pace_per_second: 0.05,
      forwarding_number: ADA,
    })
    expect(complaints).toEqual([])
    await close()
  })

  it('places a call and hangs up', async () => {
    const { page, complaints, close } = await openConsole(browser, world, '/calls')
    await page.getByRole('button', { name: 'Place a call' }).click()
    await page.getByLabel('To').fill(BOB)
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    const table = page.getByRole('table', { name: 'Calls' })
    await table.getByText('ringing').waitFor()
    await table.getByRole('button', { name: 'Hang up' }).click()
    await table.getByText('cancelled').waitFor()
    expect((await world.get('/v3/calls')).body.data[0]).toMatchObject({
      outcome: 'CANCELLED',
      to_number: BOB,
    })
    expect(complaints).toEqual([])
    await close()
  })

  it('answers and declines calls to a line', async () => {
    await world.call('PUT', `/api/lines/${LINE}/call-forwarding`, { body: { forwarding_number: BOB } })
    const { page, complaints, close } = await openConsole(browser, world, '/calls')
    const dial = () => world.post(`/sim/phones/${ADA}/calls`, { to: LINE })
    const ringing = page.getByRole('region', { name: `${ADA} is calling` })
    await dial()
    await ringing.getByText(`also ringing at ${BOB}`).waitFor()
    await ringing.getByRole('button', { name: 'Answer' }).click()
    const table = page.getByRole('table', { name: 'Calls' })
    await table.getByRole('button', { name: 'Hang up' }).click()
    await expect.poll(() => ringing.count()).toBe(0)
    await dial()
    await ringing.getByRole('button', { name: 'Decline' }).click()
    await table.getByText('busy').waitFor()
    expect((await world.get('/v3/calls')).body.data.slice(0, 2)).toMatchObject([
      { outcome: 'BUSY', from_number: ADA, forwarded_to: null },
      { outcome: 'COMPLETED', from_number: ADA, forwarded_to: null },
    ])
    expect(complaints).toEqual([])
    await close()
  })

  it('names the seat of the person who writes to a group', async () => {
    const { id: account_id } = (await world.get('/admin/accounts', 'admin')).body.data[0]
    for (const email of ['rep@example.com', 'boss@example.com'])
      await world.post('/admin/seats', { account_id, email }, 'admin')
    const group = { from_number: LINE, numbers: [ADA, BOB], content: 'Hello all' }
    const { group_id } = (await world.post('/api/send-group-message', group)).body
    const path = `/conversations/${group_id}?line=${encodeURIComponent(LINE)}`
    const { page, complaints, close } = await openConsole(browser, world, path)
    await page.getByRole('textbox', { name: 'Message' }).fill('From the console')
    const send = page.getByRole('button', { name: 'Send', exact: true })
    expect(await send.isDisabled()).toBe(true)
    await page.getByLabel('Send as').selectOption({ label: 'rep@example.com' })
    await send.click()
    await page.getByRole('log').getByText('From the console').waitFor()
    const [message] = (await world.get(`/api/v2/messages?group_id=${group_id}&limit=1`)).body.data
    expect(message).toMatchObject({ content: 'From the console', sender_email: 'rep@example.com' })
    expect(message.seat_id).toMatch(/^[\da-f-]{36}$/)
    // The browser remembers who writes.
    await page.reload()
    await expect
      .poll(() => page.getByLabel('Send as').evaluate((select: Json) => select.selectedOptions[0].text))
      .toBe('rep@example.com')
    // Every request names the person, for the audit log.
    await page.getByRole('textbox', { name: 'Message' }).fill('Again')
    const asked = page.waitForRequest((request) => request.method() === 'POST')
    await send.click()
    expect((await asked).headers()['x-trunkline-seat']).toBe(message.seat_id)
    expect(complaints).toEqual([])
    await close()
  })
})
