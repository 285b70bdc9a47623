import { ACCOUNT_OPTIONS, withAccount } from '../client.js'
import { type Command, needed, StillWaiting, text, UsageError } from '../command.js'
import { harmless, printRecord, printText } from '../output.js'

/** What one request may wait at most. */
const AT_ONCE_MS = 60_000

interface Answer {
  matched: { content: string } | null
  extracted: string | null
}

const wait: Command = {
  name: 'wait',
  summary: 'Wait for a message on a virtual phone and print it, or the code or link in it; 3 when none came',
  options: {
    to: { type: 'string', help: 'the phone, E.164' },
    match: { type: 'string', help: 'a regular expression that its text must contain' },
    extract: {
      type: 'string',
      help: 'print only this of it: otp, link, or regex (first group of --match)',
    },
    timeout: { type: 'string', help: 'how long, like 500ms, 10s or 2m; default 10s' },
    ...ACCOUNT_OPTIONS,
  },
  examples: [
    'trunkline wait --to +12025550101',
    'trunkline wait --to +12025550101 --extract otp --timeout 30s',
    "trunkline wait --to +12025550101 --match 'order (\\S+)' --extract regex",
  ],
  run: (args) =>
    withAccount(args, async (call) => {
      if (args.positionals.length > 0) throw new UsageError('This takes no names')
      const number = needed(args, 'to')
      const timeout = text(args, 'timeout') ?? '10s'
      const endsAt = Date.now() + millisecondsOf(timeout)
      for (;;) {
        const left = Math.max(0, endsAt - Date.now())
        const query = new URLSearchParams({ wait: `${Math.min(left, AT_ONCE_MS)}`, limit: '1' })
        for (const name of ['match', 'extract'])
          if (text(args, name) !== undefined) query.set(name, text(args, name)!)
        const answer = await call('GET', `/sim/phones/${encodeURIComponent(number)}/inbox?${query}`)
        const { matched, extracted } = answer as Answer
        if (matched) {
          if (args.json) printRecord(args, { matched, extracted })
          else printText(args, harmlessLines(extracted ?? matched.content))
          return
        }
        if (left <= AT_ONCE_MS)
          throw new StillWaiting(`Nothing came to ${harmless(number)} within ${timeout}`)
      }
    }),
}

function millisecondsOf(time: string): number {
  const [, amount, unit = 'ms'] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)?$/.exec(time) ?? []
  if (amount === undefined) throw new UsageError('--timeout must be a time like 500ms, 10s or 2m')
  return Math.round(Number(amount) * { ms: 1, s: 1000, m: 60_000 }[unit as 'ms' | 's' | 'm'])
}

/** A text may have several lines; nothing else in it may steer a terminal. */
function harmlessLines(content: string): string {
  return content.split('\n').map(harmless).join('\n')
}

export const WAIT_COMMANDS: readonly Command[] = [wait]
