import { text as textOf } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { type Args, flag, required, StillWaiting, text, UsageError, whole } from '../args.js'
import { AnswerLost, ApiError, type Call, onceOnly } from '../client.js'
import { command, type Fields } from '../command.js'
import { note, printRecord } from '../output.js'

type Message = Fields & { message_handle: string; status: string }

const SHOWN = ['message_handle', 'status', 'service', 'from_number', 'number', 'error_code', 'error_message']
const TRIES = 4
const POLL_MS = { first: 100, most: 1000 } as const

export const send = command({
  name: 'send',
  summary: 'Send a message',
  positional: 'text...',
  as: 'account',
  options: {
    to: required('recipient, E.164'),
    from: "the line to send from; default the account's first line",
    media: 'URL of a file to send; the text is then optional',
    style: 'effect of an iMessage, like confetti or slam',
    wait: flag('wait until the message was sent (exits with 0) or failed (1)'),
    timeout: {
      ...whole('how many seconds --wait lasts (default 60); then it exits with 3', 1),
      default: '60',
    },
  },
  examples: [
    '--to +12025550101 Hello Ada',
    '--to +12025550101 --from +12025550100 --wait "Your table is ready"',
    '--to +12025550101 --media https://example.com/menu.png',
    'date | trunkline send --to +12025550101 -',
  ],
  async run(args, call) {
    const { to, media, style, wait, timeout } = args.values
    const content = await contentOf(args)
    if (content === '' && media === undefined)
      throw new UsageError('Give a text, - for standard input, or --media')
    const sent = await post(call, {
      number: to,
      from_number: text(args, 'from') ?? (await firstLine(args, call)),
      content,
      media_url: media,
      send_style: style,
    })
    const last = wait ? await outcome(call, sent, timeout as number) : sent
    printRecord(args, args.json ? last : shown(last))
    if (hasFailed(last)) throw new ApiError(`The message was not sent: ${last.error_message ?? last.status}`)
    if (wait && !isOut(last))
      throw new StillWaiting(
        `The message is still ${last.status} after ${timeout} s. Trunkline goes on with it.`,
      )
  },
})

async function contentOf({ positionals, io }: Args): Promise<string> {
  if (positionals.length !== 1 || positionals[0] !== '-') return positionals.join(' ')
  return (await textOf(io.stdin)).replace(/\r?\n$/, '')
}

async function firstLine(args: Args, call: Call): Promise<string> {
  const { numbers } = await call<{ numbers: string[] }>('GET', '/api/lines')
  const [first] = numbers
  if (first === undefined) throw new ApiError('The account has no line to send from.')
  if (numbers.length > 1)
    note(args, `From ${first}, the first of ${numbers.length} lines. Use --from to choose another.`)
  return first
}

/** All tries have the same idempotency key, so that only one message is sent. */
async function post(call: Call, body: object): Promise<Message> {
  const headers = onceOnly()
  for (let tries = 1; ; tries++) {
    try {
      return await call<Message>('POST', '/api/send-message', body, headers)
    } catch (error) {
      if (tries === TRIES || !isTemporary(error)) throw error
      await pause(250 * 2 ** tries)
    }
  }
}

function isTemporary(error: unknown): boolean {
  if (error instanceof AnswerLost) return true
  return error instanceof ApiError && [429, 502, 503, 504].includes(error.status ?? 0)
}

async function outcome(call: Call, sent: Message, seconds: number): Promise<Message> {
  const until = performance.now() + seconds * 1000
  let last = sent
  for (let wait: number = POLL_MS.first; !isOut(last) && !hasFailed(last); ) {
    const left = until - performance.now()
    if (left <= 0) break
    await pause(Math.min(wait, left))
    wait = Math.min(wait * 2, POLL_MS.most)
    try {
      last = await call<Message>('GET', `/api/status?handle=${encodeURIComponent(sent.message_handle)}`)
    } catch (error) {
      // The message was accepted: a status request without an answer changes nothing about it.
      if (!isTemporary(error)) throw error
    }
  }
  return last
}

function isOut({ status }: Message): boolean {
  return ['SENT', 'DELIVERED', 'SUCCESS'].includes(status)
}

function hasFailed({ status }: Message): boolean {
  return ['ERROR', 'DECLINED'].includes(status)
}

function shown(message: Message): Fields {
  const isPresent = (name: string) => ![undefined, null, ''].includes(message[name] as string)
  return Object.fromEntries(SHOWN.filter(isPresent).map((name) => [name, message[name]]))
}
