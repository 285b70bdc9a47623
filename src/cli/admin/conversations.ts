import { CLIENT_OPTIONS, withClient } from '../client.js'
import { type Command, needed, onePositional } from '../command.js'
import { printRecord, printTable } from '../output.js'

/** Conversations that went round in circles. */
export const CONVERSATION_COMMANDS: readonly Command[] = [
  {
    name: 'conversation list',
    summary: 'List held conversations',
    options: { ...CLIENT_OPTIONS },
    examples: ['trunkline conversation list --json'],
    run: (args) =>
      withClient(args, async (send) => {
        const { data } = (await send('GET', '/admin/conversations/held')) as {
          data: Record<string, unknown>[]
        }
        printTable(args, data, ['line_id', 'conversation', 'account_id', 'alternations', 'held_until'])
      }),
  },
  {
    name: 'conversation release',
    summary: 'Let a held conversation go on',
    positional: 'number or group id',
    options: {
      line: { type: 'string', help: 'id of the line' },
      drop: { type: 'boolean', help: 'what was held ends as an error instead of going out' },
      ...CLIENT_OPTIONS,
    },
    examples: ['trunkline conversation release +12025550101 --line <id>'],
    run: (args) => {
      const body = {
        conversation: onePositional(args, 'conversation'),
        line_id: needed(args, 'line'),
        drop: args.values.drop === true,
      }
      return withClient(args, async (send) =>
        printRecord(
          args,
          (await send('POST', '/admin/conversations/release', body)) as Record<string, unknown>,
        ),
      )
    },
  },
]
