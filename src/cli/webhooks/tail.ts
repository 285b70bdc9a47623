import { ACCOUNT_OPTIONS } from '../client.js'
import { type Command, noPositionals, text } from '../command.js'
import { shortened } from '../messages/messages.js'
import { printLine } from '../output.js'
import { type Envelope, envelopeIn, followFeed, untilStopped } from './feed.js'

export const tail: Command = {
  name: 'tail',
  summary: 'Follow what happens in the account, until Ctrl-C',
  options: {
    types: {
      type: 'string',
      help: 'only these events, separated by commas, or all (default: the usual ones)',
    },
    since: { type: 'string', help: 'begin after the event of this number, or at this time, ISO 8601' },
    ...ACCOUNT_OPTIONS,
  },
  examples: [
    'trunkline tail',
    'trunkline tail --types message.received,message.updated',
    'trunkline tail --since 0 --types all --json',
  ],
  async run(args) {
    noPositionals(args)
    const query = new URLSearchParams()
    for (const name of ['types', 'since']) {
      const value = text(args, name)
      if (value !== undefined) query.set(name, value)
    }
    await untilStopped(args, async (signal) => {
      const feed = followFeed(args, { path: `/api/v2/events?${query}`, after: undefined, signal })
      for await (const { id, event } of feed) {
        if (!event) continue
        const envelope = envelopeIn(event)
        printLine(args, { sequence: id, ...envelope }, inWords(id, envelope))
      }
    })
  },
}

function inWords(sequence: number, { type, occurred_at, data }: Envelope): string {
  const about = type.startsWith('message.') && data.from_number ? aboutMessage(data) : JSON.stringify(data)
  return `${occurred_at}  ${String(sequence).padStart(6)}  ${type.padEnd(20)}  ${about}`
}

function aboutMessage(data: Record<string, unknown>): string {
  const content = shortened(String(data.content || data.media_url || ''))
  const parts = [`${data.from_number} > ${data.to_number || data.group_id}`, data.service, data.status]
  return [...parts, data.error_message, JSON.stringify(content), data.message_handle]
    .filter((part) => part !== undefined && part !== null && part !== '')
    .join('  ')
}
