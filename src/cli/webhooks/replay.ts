import { fieldsOf, flag, inField, onePositional, UsageError } from '../args.js'
import { ApiError, onceOnly } from '../client.js'
import { command, type Fields } from '../command.js'
import { printRecord } from '../output.js'

const PATH = '/v3/webhook-deliveries'

const FILTER = {
  failed: inField('status', flag('all failed deliveries')),
  since: inField('created_at_gte', 'all from this time on, ISO 8601'),
  until: inField('created_at_lt', 'all before this time, ISO 8601'),
  type: 'only of this type, like receive or outbound',
  message: inField('message_handle', 'only about the message with this handle'),
}

export const replay = command({
  name: 'replay',
  summary: 'Repeat webhook deliveries: one, all that failed, or all of a period',
  positional: 'delivery id',
  as: 'account',
  options: FILTER,
  examples: ['42', '--failed', '--since 2026-11-15T08:00:00Z --until 2026-11-15T09:00:00Z --type receive'],
  async run(args, call) {
    const filter = fieldsOf(args, FILTER)
    const isFiltered = Object.keys(filter).length > 0
    if (filter.status) filter.status = 'failed'
    if (isFiltered && args.positionals.length > 0)
      throw new UsageError('Give either the id of one delivery or options that select deliveries')
    const path = isFiltered
      ? PATH
      : `${PATH}/${encodeURIComponent(onePositional(args, 'delivery id, or --failed'))}`
    const answer = await call('POST', `${path}/replay`, filter, onceOnly())
    const { data } = answer as { data: Fields }
    printRecord(args, data)
    if (data.more === true)
      throw new ApiError(
        'Older deliveries match, too, and were left out. Run this again with an earlier --until.',
      )
  },
})
