import { ACCOUNT_OPTIONS, withAccount } from '../client.js'
import { type Command, count, noPositionals, text } from '../command.js'
import { printTable } from '../output.js'

const COLUMNS = ['time', 'direction', 'number', 'line', 'service', 'status', 'content', 'handle']
const CONTENT_SHOWN = 60

export const messages: Command = {
  name: 'messages',
  summary: 'List messages, newest first',
  options: {
    number: { type: 'string', help: 'only with this number on either side' },
    status: { type: 'string', help: 'only with this status, like DELIVERED or ERROR' },
    line: { type: 'string', help: 'only on this line' },
    limit: { type: 'string', help: 'how many at most (default 20, up to 1000)' },
    ...ACCOUNT_OPTIONS,
  },
  examples: [
    'trunkline messages',
    'trunkline messages --number +12025550101 --limit 5',
    'trunkline messages --status ERROR --json',
  ],
  async run(args) {
    noPositionals(args)
    const query = new URLSearchParams({ limit: String(count(args, 'limit') ?? 20) })
    for (const [option, field] of [
      ['number', 'number'],
      ['status', 'status'],
      ['line', 'sendblue_number'],
    ] as const) {
      const value = text(args, option)
      if (value !== undefined) query.set(field, option === 'status' ? value.toUpperCase() : value)
    }
    await withAccount(args, async (call) => {
      const { data } = (await call('GET', `/api/v2/messages?${query}`)) as { data: Record<string, unknown>[] }
      if (args.json) return printTable(args, data, [])
      printTable(args, data.map(rowOf), COLUMNS)
    })
  },
}

function rowOf(message: Record<string, unknown>): Record<string, unknown> {
  return {
    time: message.date_sent,
    direction: message.is_outbound ? 'out' : 'in',
    number: message.group_id || message.number,
    line: message.sendblue_number,
    service: message.service,
    status: message.status,
    content: shortened(String(message.content || message.media_url || '')),
    handle: message.message_handle,
  }
}

export function shortened(text: string): string {
  const characters = [...text.replace(/\s+/g, ' ')]
  if (characters.length <= CONTENT_SHOWN) return characters.join('')
  return `${characters.slice(0, CONTENT_SHOWN - 1).join('')}…`
}
