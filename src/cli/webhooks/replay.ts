import { randomUUID } from 'node:crypto'
import { ACCOUNT_OPTIONS, ApiError, withAccount } from '../client.js'
import { type Args, type Command, onePositional, text, UsageError } from '../command.js'
import { printRecord } from '../output.js'

const PATH = '/v3/webhook-deliveries'

/** Posting webhooks again. */
export const replay: Command = {
  name: 'replay',
  summary: 'Post webhooks again: one delivery, all that failed, or all of a period',
  positional: 'delivery id',
  options: {
    failed: { type: 'boolean', help: 'all that failed' },
    since: { type: 'string', help: 'all from this time on, ISO 8601' },
    until: { type: 'string', help: 'all before this time, ISO 8601' },
    type: { type: 'string', help: 'only of this type, like receive or outbound' },
    message: { type: 'string', help: 'only those about the message of this handle' },
    ...ACCOUNT_OPTIONS,
  },
  examples: [
    'trunkline replay 42',
    'trunkline replay --failed',
    'trunkline replay --since 2026-11-15T08:00:00Z --until 2026-11-15T09:00:00Z --type receive',
  ],
  async run(args) {
    const filter = filterOf(args)
    if (filter && args.positionals.length > 0)
      throw new UsageError('Name one delivery, or say which ones, not both')
    const path = filter
      ? PATH
      : `${PATH}/${encodeURIComponent(onePositional(args, 'delivery, or use --failed'))}`
    await withAccount(args, async (call) => {
      const headers = { 'idempotency-key': `cli-${randomUUID()}` }
      const { data } = (await call('POST', `${path}/replay`, filter ?? {}, headers)) as {
        data: Record<string, unknown>
      }
      printRecord(args, data)
      if (data.more === true)
        throw new ApiError('Older ones match too and were left out: run it again with an earlier --until.')
    })
  },
}

function filterOf(args: Args): Record<string, string> | undefined {
  const given = {
    status: args.values.failed ? 'failed' : undefined,
    created_at_gte: text(args, 'since'),
    created_at_lt: text(args, 'until'),
    type: text(args, 'type'),
    message_handle: text(args, 'message'),
  }
  const entries = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}
