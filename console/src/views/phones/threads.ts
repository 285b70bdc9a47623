import type { Group, PhoneMessage } from '../../api/types'
import type { NameOf } from './names'

/** A conversation on a phone. */
export interface Thread {
  /** The line's number, or the id of the group. */
  key: string
  line: string
  group: Group | null
  title: string
  messages: PhoneMessage[]
  unread: number
  last: number
}

/** The conversations of a phone, newest first. */
export function threadsOf(
  messages: readonly PhoneMessage[],
  groups: readonly Group[],
  titleOf: (line: string, group: Group | null) => string,
): Thread[] {
  const threads = new Map<string, Thread>()
  const threadOf = (key: string, line: string, group: Group | null, last: number) => {
    const thread = threads.get(key) ?? {
      key,
      line,
      group,
      title: titleOf(line, group),
      messages: [],
      unread: 0,
      last,
    }
    threads.set(key, thread)
    return thread
  }
  for (const group of groups)
    threadOf(group.id, group.line, group, Date.parse(group.history.at(-1)?.at ?? group.created_at))
  for (const message of messages) {
    const group = groups.find(({ id }) => id === message.group?.id) ?? groupOf(message)
    const thread = threadOf(message.group?.id ?? message.line, message.line, group, 0)
    thread.messages.push(message)
    thread.last = Math.max(thread.last, Date.parse(message.created_at))
    if (message.direction === 'in' && message.read_at === null && message.tapback_on === null) thread.unread++
  }
  return [...threads.values()].sort((a, b) => b.last - a.last)
}

/** The group of a message whose sender or recipient has left the group. */
function groupOf({ group, line, created_at }: PhoneMessage): Group | null {
  if (!group) return null
  const { id = '', name = null, members = [] } = group
  return { id, name, members, group_id: null, photo_url: null, line, history: [], created_at }
}

/** A line of text between bubbles. */
export interface Notice {
  id: string
  at: number
  text: string
}

/** The changes of a group, in the words of a phone. */
export function noticesOf(group: Group, self: string, nameOf: NameOf): Notice[] {
  const name = (handle: string | null) =>
    handle === null ? 'somebody' : handle === self ? 'You' : nameOf(handle)
  return group.history.map((change, index) => ({
    id: `${group.id} ${index}`,
    at: Date.parse(change.at),
    text: noticeText(change, name),
  }))
}

function noticeText(
  { kind, by, value }: Group['history'][number],
  name: (handle: string | null) => string,
): string {
  const who = name(by)
  switch (kind) {
    case 'named':
      return `${who} named the conversation “${value}”.`
    case 'unnamed':
      return `${who} removed the name from the conversation.`
    case 'photo':
      return value ? `${who} changed the group photo.` : `${who} removed the group photo.`
    case 'added':
      return `${who} added ${name(value)} to the conversation.`
    case 'removed':
      return `${who} removed ${name(value)} from the conversation.`
    case 'left':
      return `${who} left the conversation.`
    default:
      return `${who} started the conversation.`
  }
}
