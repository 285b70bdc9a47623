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
    hold: flag('do not send them: each ends with error 10002, outcome unknown'),
    before: 'decide only about messages that were to be sent before this time, ISO 8601',
  },
  as: 'admin',
  examples: ['', '--hold --before 2026-03-01T09:00:00Z', '--resend-unsent', '--offline --resend-unsent'],
  async run(args, call) {
    const action = actionOf(args)
    if (action !== undefined) return decide(args, call, action)
    const { lines, ...state } = await call<Recovery>('GET', '/admin/recovery')
    if (args.json) return printRecord(args, { ...state, lines })
    if (state.messages === 0) return note(args, 'No message is in doubt.')
    note(
      args,
      `${state.messages} messages waited when this incarnation of the database began (${state.begun_at}: ${state.reason}). They may have been sent before and are held. Send them with --resend-unsent, or give them up with --hold; --before limits either to earlier messages.`,
    )
    printTable(args, lines, 'line_number messages tried oldest newest line_id'.split(' '))
  },
})

function actionOf({ values }: Args): 'resend' | 'fail' | undefined {
  const [resend, hold] = [values['resend-unsent'] === true, values.hold === true]
  if (resend && hold) throw new UsageError('Give either --resend-unsent or --hold')
  if (!resend && !hold && values.before !== undefined)
    throw new UsageError('--before needs --resend-unsent or --hold')
  return resend ? 'resend' : hold ? 'fail' : undefined
}

async function decide(args: Args, call: Call, action: 'resend' | 'fail'): Promise<void> {
  const body = { action, ...(args.values.before === undefined ? {} : { before: args.values.before }) }
  let total = 0
  for (;;) {
    const { decided } = await call<{ decided: number }>('POST', '/admin/recovery', body)
    if (decided === 0) break
    total += decided
  }
  const { messages: left } = await call<Recovery>('GET', '/admin/recovery')
  printRecord(args, { action, messages: total, left })
}
