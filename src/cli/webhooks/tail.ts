import { fieldsOf } from '../args.js'
import { command } from '../command.js'
import { shortened } from '../messages/messages.js'
import { printLine } from '../output.js'
import { type Envelope, envelopeIn, followFeed, untilStopped } from './feed.js'

const QUERY = {
  types: 'only these event types, separated by commas, or all (default: the usual ones)',
  since: 'begin after the event with this sequence number, or at this time, ISO 8601',
}

export const tail = command({
  name: 'tail',
  summary: "Follow the account's events until Ctrl-C",
  as: 'account',
  options: QUERY,
  examples: ['', '--types message.received,message.updated', '--since 0 --types all --json'],
  async run(args) {
    const query = new URLSearchParams(fieldsOf(args, QUERY) as Record<string, string>)
    await untilStopped(args, async (signal) => {
      const feed = followFeed(args, { path: `/api/v2/events?${query}`, after: undefined, signal })
      for await (const { id, event } of feed) {
        if (!event) continue
        const envelope = envelopeIn(event)
        printLine(args, { sequence: id, ...envelope }, inWords(id, envelope))
      }
    })
  },
})

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
