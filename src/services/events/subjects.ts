import type { Event } from '../../core/events/event.js'
import { isAboutMessage } from '../../core/events/message-events.js'
import type { Group } from '../../core/groups/group.js'
import type { Message } from '../../core/messages/message.js'
import type { Sql } from '../../storage/engine/db.js'
import { findGroups } from '../../storage/groups/groups.js'
import { findMessagesByHandle } from '../../storage/messages/messages.js'

/** The messages and groups of events, deleted messages included: check `deletedAt` before showing one. */
export interface EventSubjects {
  /** By handle. */
  messages: ReadonlyMap<string, Message>
  /** The groups of these messages, by id. */
  groups: ReadonlyMap<string, Group>
}

/** At most two queries, for any number of events. */
export async function findSubjects(sql: Sql, events: readonly Event[]): Promise<EventSubjects> {
  const handles = new Set(events.filter(isAboutMessage).map((event) => event.subject))
  const messages =
    handles.size === 0 ? new Map<string, Message>() : await findMessagesByHandle(sql, [...handles])
  const groupIds = [...messages.values()].flatMap((message) => message.groupId ?? [])
  return { messages, groups: await findGroups(sql, groupIds) }
}
