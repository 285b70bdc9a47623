import { ACCOUNT_OPTIONS, withAccount } from '../client.js'
import { type Command, onePositional } from '../command.js'
import { harmless, printRecord, printTable, printText } from '../output.js'

interface Story {
  handle: string
  verdict: string
  summary: string
  next_step: string
  steps: { at: string; what: string; detail: string }[]
}

export const why: Command = {
  name: 'why',
  summary: 'Tell the story of one message: where it is, why, and what to do about it',
  positional: 'handle',
  options: { ...ACCOUNT_OPTIONS },
  examples: [
    'trunkline why 0198c0de-7b1e-7000-8000-000000000001',
    'trunkline why "$HANDLE" --json | jq -r .verdict',
  ],
  run: (args) =>
    withAccount(args, async (call) => {
      const handle = onePositional(args, 'message by its handle')
      const { data } = (await call('GET', `/v3/messages/${encodeURIComponent(handle)}/why`)) as {
        data: Story
      }
      if (args.json) return printRecord(args, { ...data })
      printText(args, `${harmless(data.summary)}\n\nNext: ${harmless(data.next_step)}\n`)
      printTable(args, data.steps, ['at', 'what', 'detail'])
    }),
}
