import { randomUUID } from 'node:crypto'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { ACCOUNT_OPTIONS, AnswerLost, ApiError, type Call, withAccount } from '../client.js'
import { type Args, type Command, count, needed, StillWaiting, text, UsageError } from '../command.js'
import { note, printRecord } from '../output.js'

type Sent = Record<string, unknown> & { message_handle: string; status: string; error_message?: unknown }

const SHOWN = ['message_handle', 'status', 'service', 'from_number', 'number', 'error_code', 'error_message']
const TRIES = 4
const POLL_MS = { first: 100, most: 1000 } as const

export const send: Command = {
  name: 'send',
  summary: 'Send a message',
  positional: 'text...',
  options: {
    to: { type: 'string', help: 'recipient, E.164' },
    from: { type: 'string', help: "the line to send from; default the account's first" },
    media: { type: 'string', help: 'URL of a file to send; the text may then be left out' },
    style: { type: 'string', help: 'effect of an iMessage, like confetti or slam' },
    wait: { type: 'boolean', help: 'until it was sent (0) or has failed (1)' },
    timeout: { type: 'string', help: 'seconds that --wait lasts (default 60); then it ends with 3' },
    ...ACCOUNT_OPTIONS,
  },
  examples: [
    'trunkline send --to +12025550101 Hello Ada',
    'trunkline send --to +12025550101 --from +12025550100 --wait "Your table is ready"',
    'trunkline send --to +12025550101 --media https://example.com/menu.png',
    'date | trunkline send --to +12025550101 -',
  ],
  async run(args) {
    const to = needed(args, 'to')
    const seconds = count(args, 'timeout') ?? 60
    const content = await contentOf(args)
    if (content === '' && text(args, 'media') === undefined)
      throw new UsageError('Say what to send: a text, - for the standard input, or --media')
    await withAccount(args, async (call) => {
      const body = {
        number: to,
        from_number: text(args, 'from') ?? (await firstLine(args, call)),
        content,
        media_url: text(args, 'media'),
        send_style: text(args, 'style'),
      }
      const sent = await post(call, body)
      const last = args.values.wait ? await outcome(call, sent, seconds) : sent
      printRecord(args, args.json ? last : shown(last))
      if (hasFailed(last))
        throw new ApiError(`The message was not sent: ${last.error_message ?? last.status}`)
      if (args.values.wait && !isOut(last))
        throw new StillWaiting(`It is still ${last.status} after ${seconds} s; it goes on without us.`)
    })
  },
}

async function contentOf({ positionals, io }: Args): Promise<string> {
  if (positionals.length !== 1 || positionals[0] !== '-') return positionals.join(' ')
  return (await textOf(io.stdin)).replace(/\r?\n$/, '')
}

async function firstLine(args: Args, call: Call): Promise<string> {
  const { numbers } = (await call('GET', '/api/lines')) as { numbers: string[] }
  const [first] = numbers
  if (first === undefined) throw new ApiError('The account has no line to send from.')
  if (numbers.length > 1)
    note(args, `From ${first}, the first of ${numbers.length} lines; --from names another.`)
  return first
}

/** All tries have one key: however many of them arrive, one message is sent. */
async function post(call: Call, body: object): Promise<Sent> {
  const headers = { 'idempotency-key': `cli-${randomUUID()}` }
  for (let tries = 1; ; tries++) {
    try {
      return (await call('POST', '/api/send-message', body, headers)) as Sent
    } catch (error) {
      if (tries === TRIES || !isPassing(error)) throw error
      await pause(250 * 2 ** tries)
    }
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof AnswerLost) return true
  return (
    error instanceof ApiError && error.status !== undefined && [429, 502, 503, 504].includes(error.status)
  )
}

async function outcome(call: Call, sent: Sent, seconds: number): Promise<Sent> {
  const until = performance.now() + seconds * 1000
  let last = sent
  for (let wait: number = POLL_MS.first; !isOut(last) && !hasFailed(last); ) {
    const left = until - performance.now()
    if (left <= 0) break
    await pause(Math.min(wait, left))
    wait = Math.min(wait * 2, POLL_MS.most)
    try {
      last = (await call('GET', `/api/status?handle=${encodeURIComponent(sent.message_handle)}`)) as Sent
    } catch (error) {
      // It was accepted: a question that gets no answer says nothing about it.
      if (!isPassing(error)) throw error
    }
  }
  return last
}

function isOut({ status }: Sent): boolean {
  return ['SENT', 'DELIVERED', 'SUCCESS'].includes(status)
}

function hasFailed({ status }: Sent): boolean {
  return ['ERROR', 'DECLINED'].includes(status)
}

function shown(message: Sent): Record<string, unknown> {
  const present = SHOWN.filter((name) => message[name] !== undefined && message[name] !== null)
  return Object.fromEntries(
    present.filter((name) => message[name] !== '').map((name) => [name, message[name]]),
  )
}
