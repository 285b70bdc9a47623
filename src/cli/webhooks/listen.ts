import { hash } from 'node:crypto'
import { join } from 'node:path'
import { parseUrl } from '../../base/parse-url.js'
import { WEBHOOK_TYPES } from '../../core/webhooks/types.js'
import { ACCOUNT_OPTIONS, ApiError, serverOf } from '../client.js'
import { type Args, type Command, needed, noPositionals, text, UsageError } from '../command.js'
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

export const listen: Command = {
  name: 'listen',
  summary: 'Post live events as signed webhooks to a receiver on this machine, until Ctrl-C',
  options: {
    'forward-to': { type: 'string', help: 'URL of the receiver' },
    types: { type: 'string', help: `only these, separated by commas: ${WEBHOOK_TYPES.join(', ')}` },
    since: {
      type: 'string',
      help: 'where to begin while there is no bookmark: after this number, or at this time (default now)',
    },
    'secret-file': {
      type: 'string',
      help: 'file with the signing secret, - for the standard input (default: one of its own)',
    },
    'print-secret': { type: 'boolean', help: 'say the signing secret at the start' },
    bookmark: {
      type: 'string',
      help: 'file that knows what was taken; the same command goes on from there (default: in ./.trunkline)',
    },
    ...ACCOUNT_OPTIONS,
  },
  examples: [
    'trunkline listen --forward-to http://localhost:3000/webhooks',
    'trunkline listen --forward-to http://localhost:3000/webhooks --types receive,outbound --print-secret',
    'trunkline listen --forward-to http://localhost:3000/webhooks --secret-file ./secret --json',
  ],
  async run(args) {
    noPositionals(args)
    const url = urlOf(args)
    const file = text(args, 'bookmark') ?? defaultFile(args, url)
    const release = await takeAlone(file)
    try {
      const bookmark = readBookmark(file)
      const secretFile = text(args, 'secret-file')
      const secret = secretFile === undefined ? bookmark.secret : await readSecret(args, secretFile)
      if (secret === '') throw new ApiError(`The file ${secretFile} is empty`)
      await untilStopped(args, (signal) => pass(args, url, file, bookmark, secret, signal))
    } finally {
      release()
    }
  },
}

/** One after the other: what happened to a message is told in order, whatever the receiver does. */
async function pass(
  args: Args,
  url: string,
  file: string,
  bookmark: Bookmark,
  secret: string,
  signal: AbortSignal,
): Promise<void> {
  const query = new URLSearchParams()
  for (const name of ['types', 'since']) {
    const value = text(args, name)
    if (value !== undefined) query.set(name, value)
  }
  const { after } = bookmark
  let isGreeted = false
  for await (const item of followFeed(args, { path: `/v3/webhook-feed?${query}`, after, signal })) {
    if (!isGreeted) greet(args, url, secret, item.id)
    isGreeted = true
    if (item.event?.name === 'recovery.gap') {
      const { from, to } = JSON.parse(item.event.data) as { from: number; to: number }
      note(args, `Events ${from} to ${to} are no longer kept: what was among them is not posted.`)
    } else if (item.event) {
      const post = JSON.parse(item.event.data) as Post
      const told = (outcome: Outcome) => tell(args, post, outcome)
      const event = { ...post, webhookId: post.webhook_id, eventType: post.event_type }
      if ((await forward(url, event, secret, signal, told)) === 'stopped') return
    }
    // Only now: whoever is killed before this posts it again, under the same webhook-id.
    if (bookmark.after !== item.id) writeBookmark(file, { ...bookmark, after: item.id })
    bookmark.after = item.id
  }
}

function urlOf(args: Args): string {
  const given = needed(args, 'forward-to')
  if (!/^https?:$/.test(parseUrl(given)?.protocol ?? ''))
    throw new UsageError('--forward-to must be a URL, like http://localhost:3000/webhooks')
  return given
}

/** The same account, receiver and types are the same listener. */
function defaultFile(args: Args, url: string): string {
  const server = serverOf(args, 'live')
  const parts = [server.url, server.who, url, text(args, 'types') ?? '']
  const name = `listen-${hash('sha256', JSON.stringify(parts), 'hex').slice(0, 16)}.json`
  return join(args.io.env.TRUNKLINE_DATA ?? '.trunkline', name)
}

function greet(args: Args, url: string, secret: string, after: number): void {
  const shown = args.values['print-secret'] === true
  const facts = { ready: true, forward_to: url, after, ...(shown ? { secret } : {}) }
  const words = `Events after ${after} go to ${url}${shown ? `, signed with ${secret}` : ''}`
  printLine(args, facts, words)
}

function tell(args: Args, post: Post, { attempt, status, reason, ms, againMs }: Outcome): void {
  const { body: _body, ...event } = post
  const answer = status ?? `no answer (${reason})`
  const next = againMs === null ? '' : `, again in ${againMs} ms`
  const result = { http_status: status, reason, attempt, duration_ms: ms, retry_in_ms: againMs }
  const about = `${String(post.sequence).padStart(6)}  ${post.type.padEnd(16)}  ${post.event_type}  ${post.subject}`
  printLine(args, { ...event, ...result }, `${about}  ${answer} in ${ms} ms${next}`)
}
