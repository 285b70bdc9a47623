import { onePositional } from '../args.js'
import { command, type Fields } from '../command.js'
import { harmless, printRecord, printTable, printText } from '../output.js'

export const why = command({
  name: 'why',
  summary: 'Explain what happened to a message, where it stands, and what to do about it',
  positional: 'handle',
  as: 'account',
  examples: ['0198c0de-7b1e-7000-8000-000000000001', 'trunkline why "$HANDLE" --json | jq -r .verdict'],
  async run(args, call) {
    const handle = encodeURIComponent(onePositional(args, 'message handle'))
    const { data } = await call<{ data: { summary: string; next_step: string; steps: Fields[] } }>(
      'GET',
      `/v3/messages/${handle}/why`,
    )
    if (args.json) return printRecord(args, data)
    printText(args, `${harmless(data.summary)}\n\nNext: ${harmless(data.next_step)}\n`)
    printTable(args, data.steps, ['at', 'what', 'detail'])
  },
})
