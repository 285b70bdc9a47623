import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSmsGate, type SmsGate } from '../../peers/smsgate/smsgate.js'
import type { Json } from '../../support/world.js'
import { ERROR, faultsOf, HEALTH, INBOX, MESSAGE, POSTED, SETTINGS, WEBHOOK } from './published.js'

interface Request {
  call: string
  method: string
  path: string
  headers: Record<string, string>
  body?: Json
}
/** Made by SMSGate's own client: see scripts/smsgate-client.js. */
const REQUESTS: Request[] = JSON.parse(readFileSync('test/drivers/smsgate/client-requests.json', 'utf8'))

/** The fake phone that all tests of the driver trust, against what others wrote. */
describe('the simulated phone', () => {
  let phone: SmsGate
  beforeEach(async () => {
    phone = await createSmsGate()
  })
  afterEach(() => phone.close())
  const ask = async ({ method, path, headers, body }: Omit<Request, 'call'>) => {
    const response = await fetch(phone.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) }
  }

  it("answers the requests of SMSGate's own client as its OpenAPI document says", async () => {
    const answers: [call: string, status: number, faults: unknown[]][] = []
    const schemas: Record<string, object> = {
      getHealth: HEALTH,
      send: MESSAGE,
      getState: MESSAGE,
      getSettings: SETTINGS,
      patchSettings: SETTINGS,
      registerWebhook: WEBHOOK,
      getWebhooks: { type: 'array', items: WEBHOOK, minItems: 1 },
    }
    for (const request of REQUESTS) {
      const { status, json } = await ask(request)
      const schema = status === 400 || status === 409 ? ERROR : schemas[request.call]
      answers.push([request.call, status, json === undefined ? [] : faultsOf(schema!, json)])
    }
    expect(answers).toEqual([
      ['getHealth', 200, []],
      ['send', 202, []],
      ['send', 202, []],
      ['send', 409, []],
      ['getState', 200, []],
      ['getState', 404, []],
      ['getSettings', 200, []],
      ['patchSettings', 200, []],
      ['registerWebhook', 201, []],
      ['registerWebhook', 400, []],
      ['getWebhooks', 200, []],
      ['deleteWebhook', 204, []],
    ])
    expect(phone.queue.aired.map(({ id, to, text, sim }) => [id, to, text, sim])).toEqual([
      ['m1', '+12025558201', 'Grüße 😀', null],
      ['m2', '+12025558202', 'By SIM', 1],
    ])
    expect(phone.settings).toMatchObject({
      webhooks: { internet_required: false },
      messages: { processing_order: 'FIFO' },
    })
  })

  it('refuses a client with a wrong password', async () => {
    const headers = { authorization: `Basic ${btoa('sms:wrong')}` }
    expect((await ask({ method: 'GET', path: '/settings', headers })).status).toBe(401)
  })

  it('lists received messages as the document says', async () => {
    phone.inbox.text('+12025558201', 'Hello', { sim: null })
    phone.inbox.mms('+12025558201', '', [
      { partId: 7, name: 'a.png', contentType: 'image/png', bytes: Buffer.from('x') },
    ])
    const { headers } = REQUESTS[0]!
    const { json } = await ask({ method: 'GET', path: '/inbox?includeAttachments=true', headers })
    expect(json).toHaveLength(2)
    expect(faultsOf(INBOX, json)).toEqual([])
  })

  it('posts events as the document says', async () => {
    const posts: Json[] = []
    const sink = createServer(async (request, response) => {
      posts.push(JSON.parse(await textOf(request)))
      response.end()
    })
    await new Promise<void>((done) => void sink.listen(0, '127.0.0.1', () => done()))
    const url = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`
    const events = ['sms:sent', 'sms:delivered', 'sms:failed'] as const
    for (const event of events) phone.webhooks.set(event, { id: event, url, event })
    phone.queue.become('Delivered')
    const text = { to: '+12025558201', text: 'Hi', sim: null, wantsReport: true }
    phone.queue.add({ id: 'm1', ...text })
    phone.queue.become({ error: 'RESULT_ERROR_NO_SERVICE' })
    phone.queue.add({ id: 'm2', ...text })
    await phone.called()
    sink.close()
    expect(posts.map(({ event }) => event).sort()).toEqual([...events].sort())
    for (const post of posts) expect(faultsOf(POSTED[post.event as keyof typeof POSTED], post)).toEqual([])
  })
})
