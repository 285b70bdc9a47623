import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type BlueBubbles,
  type BlueBubblesOptions,
  createBlueBubbles,
} from '../peers/bluebubbles/bluebubbles.js'

const ALICE = '+15550111111'
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function open(options: BlueBubblesOptions = {}): Promise<BlueBubbles> {
  const mac = await createBlueBubbles({ speed: 1000, ...options })
  closing.push(() => mac.close())
  return mac
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field.
type Answer = { status: number; body: any; type: string | null }

async function call(mac: BlueBubbles, method: string, path: string, body?: unknown): Promise<Answer> {
  const mark = path.includes('?') ? '&' : '?'
  const response = await fetch(`${mac.url}/api/v1/${path}${mark}password=${mac.password}`, {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  const text = await response.text()
  const type = response.headers.get('content-type')
  return { status: response.status, body: type?.includes('json') ? JSON.parse(text) : text, type }
}

/** A receiver of webhooks. */
async function receiver() {
  // biome-ignore lint/suspicious/noExplicitAny: events are looked at field by field.
  const got: { type: string; data: any }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    got.push(JSON.parse(Buffer.concat(chunks).toString()))
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => new Promise((resolve) => server.close(resolve)))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, got }
}

const eventually = async (check: () => void, ms = 1500) => {
  const end = Date.now() + ms
  for (;;)
    try {
      return check()
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 3))
    }
}

describe('a fake BlueBubbles server', () => {
  it('carries a first message out and an answer in', async () => {
    const mac = await open()
    const hook = await receiver()
    await call(mac, 'POST', 'webhook', { url: hook.url, events: ['*'] })
    const made = await call(mac, 'POST', 'chat/new', {
      addresses: [ALICE],
      message: 'Hi',
      method: 'private-api',
    })
    expect(made.body.data.messages[0].text).toBe('Hi')
    await eventually(() => expect(mac.phone(ALICE).texts()).toEqual(['Hi']))
    mac.phone(ALICE).text('Hello')
    await eventually(() =>
      expect(hook.got.map(({ type }) => type)).toEqual(['new-message', 'updated-message', 'new-message']),
    )
  })
})
