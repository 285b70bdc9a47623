import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import SendblueAPI from 'sendblue'

export interface Settings {
  /** The line that sends the codes. */
  line: string
  /** Secret of the webhook signatures. */
  webhookSecret: string
}

/**
 * A tiny application that texts a one-time code to a person who signs up. The person types the code in or replies
 * with it; replies arrive as webhooks.
 */
export async function startApp({ line, webhookSecret }: Settings) {
  // The SDK reads the key and the base URL from the environment, as in production.
  const sendblue = new SendblueAPI()
  const codes = new Map<string, string>()
  const members = new Set<string>()

  async function signUp(number: string) {
    const code = String(randomInt(1_000_000)).padStart(6, '0')
    codes.set(number, code)
    await sendblue.messages.send({ from_number: line, number, content: `Your sign-up code is ${code}.` })
  }

  function confirm(number: string, code: string): boolean {
    if (codes.get(number) !== code) return false
    codes.delete(number)
    members.add(number)
    return true
  }

  const server = createServer(async (request, reply) => {
    const body = await text(request)
    if (request.url !== '/webhooks') return reply.writeHead(404).end()
    if (!isSigned(request.headers, body, webhookSecret)) return reply.writeHead(401).end()
    const { from_number: from, content } = JSON.parse(body)
    confirm(from, content.trim())
    reply.writeHead(200).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    webhookUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    signUp,
    confirm,
    isMember: (number: string) => members.has(number),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

/** Standard Webhooks: HMAC-SHA256 over id, timestamp and body; valid for five minutes. */
function isSigned(headers: NodeJS.Dict<string | string[]>, body: string, secret: string): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = headers
  if (Math.abs(Date.now() / 1000 - Number(time)) > 300) return false
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = Buffer.from(
    `v1,${createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')}`,
  )
  return String(signatures)
    .split(' ')
    .map((one) => Buffer.from(one))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected))
}
