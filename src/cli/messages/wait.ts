import { required, StillWaiting, text } from '../args.js'
import { command } from '../command.js'
import { harmless, printRecord, printText } from '../output.js'

/** The longest wait that the server accepts in one request. */
const MAX_WAIT_MS = 60_000

export const wait = command({
  name: 'wait',
  summary:
    'Wait for a message on a virtual phone and print it, or the code or link in it; exits with 3 if none came',
  as: 'account',
  options: {
    to: required('the phone, E.164'),
    match: 'a regular expression that the text must match',
    extract: 'print only this part: otp, link, or regex (first group of --match)',
    timeout: {
      type: 'string',
      help: 'how long to wait, like 500ms, 10s or 2m; default 10s',
      demand: 'must be a time like 500ms, 10s or 2m',
      parse: (value) => (millisecondsIn(value) === undefined ? undefined : value),
      default: '10s',
    },
  },
  examples: [
    '--to +12025550101',
    '--to +12025550101 --extract otp --timeout 30s',
    "--to +12025550101 --match 'order (\\S+)' --extract regex",
  ],
  async run(args, call) {
    const number = text(args, 'to')!
    const timeout = text(args, 'timeout')!
    const endsAt = Date.now() + millisecondsIn(timeout)!
    for (;;) {
      const left = Math.max(0, endsAt - Date.now())
      const query = new URLSearchParams({ wait: `${Math.min(left, MAX_WAIT_MS)}`, limit: '1' })
      for (const name of ['match', 'extract'])
        if (text(args, name) !== undefined) query.set(name, text(args, name)!)
      const answer = await call('GET', `/sim/phones/${encodeURIComponent(number)}/inbox?${query}`)
      const { matched, extracted } = answer as {
        matched: { content: string } | null
        extracted: string | null
      }
      if (matched && args.json) return printRecord(args, { matched, extracted })
      // The line breaks of the text are kept, no other control characters.
      if (matched) return printText(args, (extracted ?? matched.content).split('\n').map(harmless).join('\n'))
      if (left <= MAX_WAIT_MS)
        throw new StillWaiting(`No message reached ${harmless(number)} within ${timeout}`)
    }
  },
})

function millisecondsIn(time: string): number | undefined {
  const [, amount, unit = 'ms'] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)?$/.exec(time) ?? []
  if (amount === undefined) return undefined
  return Math.round(Number(amount) * { ms: 1, s: 1000, m: 60_000 }[unit as 'ms' | 's' | 'm'])
}
