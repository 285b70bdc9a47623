import { hash } from 'node:crypto'
import type { NewEvent } from '../events/event.js'

/** A group chat on a line of an account. */
export interface Group {
  id: string
  accountId: string
  lineId: string
  /** The carrier's own id of the chat, once it told. */
  chatId: string | null
  /** Null: it has none, and phones show its members instead. */
  name: string | null
  photo: GroupPhoto | null
  /** Everyone beside the line, in the order they came. */
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

/** People in a group beside the line. */
export const MIN_MEMBERS = 2
export const MAX_MEMBERS = 25
/** People, the line among them, that there have to be for one to be taken out or to leave. */
export const MIN_BEFORE_REMOVAL = 4

/** What the same people have in common in whatever order they are named: how a list of numbers finds its group. */
export function membersKey(handles: readonly string[]): string {
  return hash('sha256', [...handles].sort().join('\n'), 'base64url')
}

export function handlesOf(group: Pick<Group, 'members'>): string[] {
  return group.members.map((member) => member.handle)
}

/** What becomes of a group: whatever is named is what it has from now on. */
export interface GroupState {
  handles?: readonly string[]
  name?: string | null
  /** Where its photo is; null: it has none. */
  photoUrl?: string | null
}

/** The part of a wanted state that differs from what a group has. */
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
