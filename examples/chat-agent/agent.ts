import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createMemoryState } from '@chat-adapter/state-memory'
import { Chat, type Message, type MessageContext, type Thread } from 'chat'
import { createSendblueAdapter } from 'chat-adapter-sendblue'

/** What the agent remembers of a conversation. */
interface Memory {
  items: string[]
}

export interface Settings {
  apiKey: string
  apiSecret: string
  /** The line that people text. */
  line: string
  /** The adapter expects it in the header sb-signing-secret. */
  webhookSecret: string
}

/** An agent that keeps a shopping list for everyone who texts it. A language model would stand in `answerTo`. */
export async function startAgent({ apiKey, apiSecret, line, webhookSecret }: Settings) {
  const sendblue = createSendblueAdapter({
    apiKey,
    apiSecret,
    webhookSecret,
    defaultFromNumber: line,
    // By default, the adapter ignores everything but iMessage.
    allowedServices: ['iMessage', 'RCS', 'SMS'],
  })
  const chat = new Chat<{ sendblue: typeof sendblue }, Memory>({
    userName: 'shopper',
    adapters: { sendblue },
    state: createMemoryState(),
    // By default, a text that comes while the agent still answers another one is dropped.
    concurrency: 'queue',
    logger: 'error',
  })

  async function listen(thread: Thread<Memory>, message: Message, context?: MessageContext) {
    for (const { text } of [...(context?.skipped ?? []), message]) {
      const { items } = (await thread.state) ?? { items: [] }
      await thread.post(await answerTo(text, items))
      await thread.setState({ items })
    }
  }
  // The adapter calls the first text of a person a mention.
  chat.onNewMention(async (thread, ...rest) => {
    await thread.subscribe()
    await listen(thread, ...rest)
  })
  chat.onSubscribedMessage(listen)

  const server = createServer(async (incoming, outgoing) => {
    const response = await chat.webhooks.sendblue(await requestOf(incoming))
    outgoing.writeHead(response.status).end(await response.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    webhookUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/sendblue`,
    async close() {
      await new Promise((resolve) => server.close(resolve))
      await chat.shutdown()
    },
  }
}

async function answerTo(text: string, items: string[]): Promise<string> {
  const [, item] = /^add (.+)/i.exec(text.trim()) ?? []
  if (item) return `Added **${item}**. Things on your list: ${items.push(item)}`
  if (/^list$/i.test(text.trim())) return items.length > 0 ? items.join(', ') : 'Your list is empty.'
  return 'Text "add milk" to add to your list, or "list" to see it.'
}

async function requestOf(incoming: IncomingMessage): Promise<Request> {
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const)
  return new Request(`http://localhost${incoming.url}`, {
    method: 'POST',
    headers: Object.fromEntries(headers),
    body: await text(incoming),
  })
}
