import { type Args, flag, UsageError } from '../args.js'
import type { Call } from '../client.js'
import { type Command, command, type Fields } from '../command.js'
import { note, printRecord, printTable } from '../output.js'

interface Recovery extends Fields {
  reason: string
  begun_at: string
  messages: number
  lines: Fields[]
}

export const recover: Command = command({
  name: 'recover',
  summary:
    'After a restore or failover: show the messages that may have been sent before, and decide about them',
  options: {
    'resend-unsent': flag('send the messages in doubt now, behind newer ones'),
    'give-up': flag('never send the messages in doubt: each ends with error 10002, outcome unknown'),
    hold: flag('keep the messages in doubt, and hold all other messages that wait now as well'),
    before: 'decide only about messages that were to be sent (--hold: accepted) before this time, ISO 8601',
  },
  as: 'admin',
  examples: ['', '--give-up --before 2026-03-01T09:00:00Z', '--resend-unsent', '--hold', '--offline --hold'],
  async run(args, call) {
    const action = actionOf(args)
    if (action !== undefined) return decide(args, call, action)
    const { lines, ...state } = await call<Recovery>('GET', '/admin/recovery')
    if (args.json) return printRecord(args, { ...state, lines })
    if (state.messages === 0) return note(args, 'No message is in doubt.')
    note(
      args,
      `${state.messages} messages waited when this incarnation of the database began (${state.begun_at}: ${state.reason}). They may have been sent before and stay held until you decide: --resend-unsent sends them, --give-up ends them unsent, and --before limits either to earlier messages.`,
    )
    printTable(args, lines, 'line_number messages tried oldest newest line_id'.split(' '))
  },
})

const ACTIONS = { 'resend-unsent': 'resend', 'give-up': 'give_up', hold: 'hold' } as const
type Action = (typeof ACTIONS)[keyof typeof ACTIONS]
const CHOICES = Object.keys(ACTIONS).map((name) => `--${name}`)

function actionOf({ values }: Args): Action | undefined {
  const chosen = Object.entries(ACTIONS).filter(([name]) => values[name] === true)
  if (chosen.length > 1) throw new UsageError(`Give only one of ${CHOICES.join(', ')}`)
  if (chosen.length === 0 && values.before !== undefined)
    throw new UsageError(`--before needs one of ${CHOICES.join(', ')}`)
  return chosen[0]?.[1]
}

async function decide(args: Args, call: Call, action: Action): Promise<void> {
  const body = { action, ...(args.values.before === undefined ? {} : { before: args.values.before }) }
  let total = 0
  for (;;) {
    const { decided } = await call<{ decided: number }>('POST', '/admin/recovery', body)
    if (decided === 0) break
    total += decided
  }
  const { messages: left } = await call<Recovery>('GET', '/admin/recovery')
  printRecord(args, action === 'hold' ? { action, held: left } : { action, messages: total, left })
}
