import { inField, whole } from '../args.js'
import { command } from '../command.js'

const CONTENT_SHOWN = 60

export const messages = command({
  name: 'messages',
  summary: 'List messages, newest first',
  options: {
    number: 'only with this number on either side',
    status: {
      type: 'string',
      help: 'only with this status, like DELIVERED or ERROR',
      parse: (value) => value.toUpperCase(),
    },
    line: inField('sendblue_number', 'only on this line'),
    limit: { ...whole('how many at most (default 20, up to 1000)', 1), default: '20' },
  },
  examples: ['', '--number +12025550101 --limit 5', '--status ERROR --json'],
  request: 'GET /api/v2/messages',
  columns: 'time direction number line service status content handle',
  row: (message) => ({
    time: message.date_sent,
    direction: message.is_outbound ? 'out' : 'in',
    number: message.group_id || message.number,
    line: message.sendblue_number,
    service: message.service,
    status: message.status,
    content: shortened(String(message.content || message.media_url || '')),
    handle: message.message_handle,
  }),
})

export function shortened(text: string): string {
  const characters = [...text.replace(/\s+/g, ' ')]
  if (characters.length <= CONTENT_SHOWN) return characters.join('')
  return `${characters.slice(0, CONTENT_SHOWN - 1).join('')}…`
}
