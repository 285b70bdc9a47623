import { hash } from 'node:crypto'
import { join } from 'node:path'
import { parseUrl } from '../../base/parse-url.js'
import { WEBHOOK_TYPES } from '../../core/webhooks/types.js'
import { DEFAULT_WORLD } from '../../services/accounts/default-world.js'
import { type Args, fieldsOf, flag, required, text } from '../args.js'
import { ApiError, serverOf } from '../client.js'
import { command } from '../command.js'
import { note, printLine } from '../output.js'
import { type Bookmark, readBookmark, writeBookmark } from './bookmark.js'
import { followFeed, untilStopped } from './feed.js'
import { forward, type Outcome } from './forward.js'
import { takeAlone } from './lock.js'
import { readSecret } from './webhooks.js'

interface Post {
  webhook_id: string
  sequence: number
  type: string
  event_type: string
  subject: string
  body: string
}

const QUERY = {
  types: `only these types, separated by commas: ${WEBHOOK_TYPES.join(', ')}`,
  since: 'where to begin without a bookmark: after this sequence number, or at this time (default now)',
}

export const listen = command({
  name: 'listen',
  summary: 'Post live events as signed webhooks to a receiver on this machine, until Ctrl-C',
  as: 'account',
  options: {
    'forward-to': {
      ...required('URL of the receiver'),
      demand: 'must be a URL, like http://localhost:3000/webhooks',
      parse: (value) => (/^https?:$/.test(parseUrl(value)?.protocol ?? '') ? value : undefined),
    },
    ...QUERY,
    'secret-file': 'file with the signing secret, - for standard input (default: a generated secret)',
    'print-secret': flag('print the signing secret at the start, as it is done with development keys'),
    bookmark:
      'file that records the last event posted; the next run continues from there (default: in ./.trunkline)',
  },
  examples: [
    '--forward-to http://localhost:3000/webhooks',
    '--forward-to http://localhost:3000/webhooks --types receive,outbound --print-secret',
    '--forward-to http://localhost:3000/webhooks --secret-file ./secret --json',
  ],
  async run(args) {
    const url = text(args, 'forward-to')!
    const file = text(args, 'bookmark') ?? defaultFile(args, url)
    const release = await takeAlone(file)
    try {
      const bookmark = readBookmark(file)
      const secretFile = text(args, 'secret-file')
      const secret = secretFile === undefined ? bookmark.secret : await readSecret(args, secretFile)
      if (secret === '') throw new ApiError(`The file ${secretFile} is empty`)
      await untilStopped(args, (signal) => forwardAll(args, url, file, bookmark, secret, signal))
    } finally {
      release()
    }
  },
})

/** Forwards one event after the other, so that the receiver gets them in order. */
async function forwardAll(
  args: Args,
  url: string,
  file: string,
  bookmark: Bookmark,
  secret: string,
  signal: AbortSignal,
): Promise<void> {
  const path = `/v3/webhook-feed?${new URLSearchParams(fieldsOf(args, QUERY) as Record<string, string>)}`
  let isReady = false
  for await (const { id, event } of followFeed(args, { path, after: bookmark.after, signal })) {
    if (!isReady) printReady(args, url, secret, id)
    isReady = true
    if (event?.name === 'recovery.gap') {
      const { from, to } = JSON.parse(event.data) as { from: number; to: number }
      note(args, `Events ${from} to ${to} were deleted after their retention time and are not posted.`)
    } else if (event) {
      const post = JSON.parse(event.data) as Post
      const delivery = { ...post, webhookId: post.webhook_id, eventType: post.event_type }
      const outcome = await forward(url, delivery, secret, signal, (one) => printOutcome(args, post, one))
      if (outcome === 'stopped') return
    }
    // After the post: a process that is killed before this line posts the event again, under the same webhook-id.
    if (bookmark.after !== id) writeBookmark(file, { ...bookmark, after: id })
    bookmark.after = id
  }
}

/** One bookmark for each combination of account, receiver and types. */
function defaultFile(args: Args, url: string): string {
  const server = serverOf(args, 'live')
  const parts = [server.url, server.who, url, text(args, 'types') ?? '']
  const name = `listen-${hash('sha256', JSON.stringify(parts), 'hex').slice(0, 16)}.json`
  return join(args.io.env.TRUNKLINE_DATA ?? '.trunkline', name)
}

function printReady(args: Args, url: string, secret: string, after: number): void {
  const isShown = args.values['print-secret'] === true || isForDevelopment(args)
  const facts = { ready: true, forward_to: url, after, ...(isShown && { secret }) }
  printLine(args, facts, `Events after ${after} go to ${url}${isShown ? `, signed with ${secret}` : ''}`)
}

/** True for development keys: who builds needs a generated secret for the receiver at once. */
function isForDevelopment(args: Args): boolean {
  if (args.values['secret-file'] !== undefined) return false
  const { who } = serverOf(args, 'live')
  return Object.values(DEFAULT_WORLD.keys).some(({ id }) => id === who)
}

function printOutcome(args: Args, post: Post, { attempt, status, reason, ms, againMs }: Outcome): void {
  const { body: _body, ...event } = post
  const answer = status ?? `no answer (${reason})`
  const next = againMs === null ? '' : `, again in ${againMs} ms`
  const result = { http_status: status, reason, attempt, duration_ms: ms, retry_in_ms: againMs }
  const news = (JSON.parse(post.body) as { status?: unknown }).status
  const subject = typeof news === 'string' ? `${post.subject} ${news}` : post.subject
  const about = `${String(post.sequence).padStart(6)}  ${post.type.padEnd(16)}  ${post.event_type}  ${subject}`
  printLine(args, { ...event, ...result }, `${about}  ${answer} in ${ms} ms${next}`)
}
