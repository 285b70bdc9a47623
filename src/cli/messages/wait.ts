import { durationMs } from '../../base/time.js'
import { required, StillWaiting, text, whole } from '../args.js'
import { command } from '../command.js'
import { harmless, note, printRecord, printText } from '../output.js'

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
    after: whole('only messages after this cursor, which the last wait has said', 0),
    timeout: {
      type: 'string',
      help: 'how long to wait, like 500ms, 10s or 2m (without a unit: seconds); default 10s',
      demand: 'must be a time like 500ms, 10s or 2m',
      parse: (value) => (durationMs(value) === undefined ? undefined : value),
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
    const endsAt = Date.now() + durationMs(timeout)!
    for (;;) {
      const left = Math.max(0, endsAt - Date.now())
      const query = new URLSearchParams({ wait: `${Math.min(left, MAX_WAIT_MS)}ms`, limit: '1' })
      for (const name of ['match', 'extract', 'after'])
        if (args.values[name] !== undefined) query.set(name, String(args.values[name]))
      const answer = await call('GET', `/sim/phones/${encodeURIComponent(number)}/inbox?${query}`)
      const { matched, extracted, cursor } = answer as {
        matched: { content: string } | null
        extracted: string | null
        cursor: number
      }
      if (matched && args.json) return printRecord(args, { matched, extracted, cursor })
      // The line breaks of the text are kept, no other control characters.
      if (matched) {
        printText(args, (extracted ?? matched.content).split('\n').map(harmless).join('\n'))
        return note(args, `For the next message: --after ${cursor}`)
      }
      if (left <= MAX_WAIT_MS)
        throw new StillWaiting(`No message reached ${harmless(number)} within ${timeout}`)
    }
  },
})
