import { hash } from 'node:crypto'
import type { NewEvent } from '../events/event.js'

/** A group chat on a line of an account. */
export interface Group {
  id: string
  accountId: string
  lineId: string
  /** The carrier's id of the chat, once known. */
  chatId: string | null
  /** Null if the group has no name; phones then show its members. */
  name: string | null
  photo: GroupPhoto | null
  /** All members except the line, in the order of joining. */
  members: readonly GroupMember[]
  createdAt: number
  updatedAt: number
}

export interface GroupMember {
  id: string
  /** A phone number in E.164, or an e-mail address of iMessage. */
  handle: string
}

export interface GroupPhoto {
  /** Changes with every new photo. */
  guid: string
  url: string
}

/** Number of members of a group, without the line. */
export const MIN_MEMBERS = 2
export const MAX_MEMBERS = 25
/** Minimum number of members, including the line, for one to be removed or to leave. */
export const MIN_BEFORE_REMOVAL = 4

/** A key for a set of members, independent of their order, by which a list of numbers finds its group. */
export function membersKey(handles: readonly string[]): string {
  return hash('sha256', [...handles].sort().join('\n'), 'base64url')
}

export function handlesOf(group: Pick<Group, 'members'>): string[] {
  return group.members.map((member) => member.handle)
}

/** The wanted state of a group; absent fields stay unchanged. */
export interface GroupState {
  handles?: readonly string[]
  name?: string | null
  /** URL of the photo; null removes it. */
  photoUrl?: string | null
}

/** The fields of a wanted state that differ from the group. */
export function differences(group: Group, wanted: GroupState): GroupState {
  const changes: GroupState = {}
  if (wanted.handles && membersKey(wanted.handles) !== membersKey(handlesOf(group)))
    changes.handles = wanted.handles
  if (wanted.name !== undefined && wanted.name !== group.name) changes.name = wanted.name
  if (wanted.photoUrl !== undefined && wanted.photoUrl !== (group.photo?.url ?? null))
    changes.photoUrl = wanted.photoUrl
  return changes
}

/** The event of a new or changed group. It holds every field of the group that may change. */
export function groupEvent(type: 'group.created' | 'group.updated', group: Group): NewEvent {
  return {
    accountId: group.accountId,
    type,
    subject: group.id,
    at: group.updatedAt,
    data: { name: group.name, photoUrl: group.photo?.url ?? null, members: handlesOf(group) },
  }
}
