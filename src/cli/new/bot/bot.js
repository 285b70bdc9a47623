import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import SendblueAPI from 'sendblue'
import { Webhook } from 'standardwebhooks'

/**
 * What the bot answers to a text. Start here.
 * @param {string} content
 */
function answerTo(content) {
  return `You said: ${content}`
}

/**
 * Starts the receiver of webhooks.
 * @param {{ port: number, secret: string }} settings the port, or 0 for a free one, and the secret that signs webhooks
 */
export async function startBot({ port, secret }) {
  // The SDK reads the server and the key from the environment.
  const sendblue = new SendblueAPI()
  const webhook = new Webhook(secret)

  const server = createServer(async (request, response) => {
    const body = await text(request)
    try {
      webhook.verify(body, /** @type {Record<string, string>} */ (request.headers))
    } catch {
      return response.writeHead(401).end()
    }
    try {
      await answer(JSON.parse(body), String(request.headers['webhook-id']))
      response.writeHead(200).end()
    } catch (error) {
      console.error(error)
      // The server posts the webhook again.
      response.writeHead(500).end()
    }
  })

  /**
   * @param {{ content: string, from_number: string, sendblue_number: string, group_id: string, opted_out: boolean }} message
   * @param {string} id the same on every attempt of a webhook, so that a repeated webhook gets no second answer
   */
  async function answer({ content, from_number, sendblue_number, group_id, opted_out }, id) {
    if (group_id || opted_out || !content) return
    await sendblue.messages.send(
      { from_number: sendblue_number, number: from_number, content: answerTo(content) },
      { headers: { 'Idempotency-Key': id } },
    )
  }

  await new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', () => resolve(undefined))
  })
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${address.port}/webhooks`,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
