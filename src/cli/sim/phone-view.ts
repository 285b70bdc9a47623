import type { Paint } from '../colour.js'
import { harmless } from '../output.js'

/** A message as a virtual phone shows it. */
export interface Shown {
  id: string
  direction: 'in' | 'out'
  line: string
  from: string
  group: { name: string | null } | null
  content: string
  media_urls: string[]
  send_style: string
  service: string
  reply_to: string | null
  reactions: { by: string; reaction: string }[]
  location?: { latitude: number; longitude: number }
  location_request?: boolean
  app_card?: object
  created_at: string
  arrived_at: string | null
  read_at: string | null
}

const TAPBACKS: Record<string, string> = {
  love: '♥',
  like: '👍',
  dislike: '👎',
  laugh: 'Ha ha',
  emphasize: '‼',
  question: '?',
}

/** The thread as bubbles: what came stands left, what the phone sent stands right. */
export function threadLines(messages: readonly Shown[], columns: number, paint: Paint): string[] {
  const byId = new Map(messages.map((one) => [one.id, one]))
  return messages.flatMap((message) => bubble(message, byId, Math.max(20, columns), paint))
}

function bubble(message: Shown, byId: ReadonlyMap<string, Shown>, columns: number, paint: Paint): string[] {
  const isOwn = message.direction === 'out'
  const width = Math.floor(columns * 0.7) - 4
  const text = wrapped(textOf(message), width)
  const inner = Math.max(...text.map((line) => line.length))
  const place = (line: string, length: number) =>
    `${' '.repeat(isOwn ? Math.max(0, columns - length - 1) : 1)}${line}`
  const answered = message.reply_to === null ? undefined : byId.get(message.reply_to)
  const above = [
    ...(message.group && !isOwn
      ? [`${harmless(message.from)}${message.group.name ? ` in ${harmless(message.group.name)}` : ''}`]
      : []),
    ...(answered ? [`↪ ${clipped(textOf(answered), width - 2)}`] : []),
  ]
  const reactions = message.reactions.map(
    ({ by, reaction }) => `${TAPBACKS[reaction] ?? harmless(reaction)} ${by}`,
  )
  const below = [...reactions, stateOf(message)]
  return [
    ...above.map((line) => paint.dim(place(line, line.length))),
    ...text.map((line) => {
      const padded = `( ${line.padEnd(inner)} )`
      const shown = paint.bubble(isOwn ? message.service : 'other', padded)
      return place(shown, padded.length)
    }),
    ...below.map((line) => paint.dim(place(line, line.length))),
    '',
  ]
}

function stateOf(message: Shown): string {
  const isOwn = message.direction === 'out'
  const progress = message.read_at ? 'Read' : message.arrived_at ? 'Delivered' : 'Sending'
  const effect = message.send_style ? ` · sent with ${harmless(message.send_style)}` : ''
  return `${message.created_at.slice(11, 16)} · ${message.service}${isOwn ? ` · ${progress}` : ''}${effect}`
}

export function textOf(message: Shown): string {
  const parts = [message.content, ...message.media_urls.map((url) => `[${url}]`)]
  if (message.location) parts.push(`[is at ${message.location.latitude}, ${message.location.longitude}]`)
  if (message.location_request) parts.push('[asks where you are]')
  if (message.app_card) parts.push('[card]')
  return parts.filter((part) => part !== '').join('\n') || '[empty]'
}

function wrapped(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines: string[] = []
    let rest = harmless(line)
    while (rest.length > width) {
      const space = rest.lastIndexOf(' ', width)
      const end = space > width / 2 ? space : width
      lines.push(rest.slice(0, end))
      rest = rest.slice(end).trimStart()
    }
    return [...lines, rest]
  })
}

function clipped(text: string, width: number): string {
  const line = harmless(text.split('\n', 1)[0]!)
  return line.length > width ? `${line.slice(0, width - 1)}…` : line
}
