import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Contact } from '../../core/contacts/contact.js'
import { AppError } from '../../core/errors.js'
import { type Group, type GroupPhoto, handlesOf } from '../../core/groups/group.js'
import type { LatestMessage } from '../../storage/groups/groups.js'
import { nullable, string, strings } from '../http/schemas.js'

/** Groups on the wire. */

const MAX_NAME = 250

export const GroupName = string('Name that phones show; empty or null for none. Must not be only spaces.', {
  maxLength: MAX_NAME,
})

/** The name, or null without one. */
export function groupName(field: string, name: string | null | undefined): string | null {
  if (!name) return null
  if (name.trim() === '')
    throw new AppError('invalid', `${field}: must not be only spaces; send "" to clear it`)
  return name
}

export const GroupPhotoWire = Type.Unsafe<{ photo_guid: string; url: string } | null>({
  type: ['object', 'null'],
  description: 'Photo that phones show; null when there is none',
  properties: {
    photo_guid: { type: 'string', description: 'Changes with every new photo' },
    url: { type: 'string', description: 'URL of the photo' },
  },
  required: ['photo_guid', 'url'],
})

export const GroupWire = Type.Object(
  {
    group_id: string('The group'),
    group_name: string('Name of the group; empty without one'),
    group_photo: GroupPhotoWire,
    created_at: string('When it was created, ISO 8601'),
    updated_at: string('When its members, name or photo last changed'),
    latest_comm_at: nullable('string', 'Time of its newest message'),
    latest_message_id: nullable('string', 'Handle of its newest message'),
    worker_group_id: nullable('string', "The carrier's id of the chat, when known"),
    participant_numbers: strings(
      'Phone numbers of the members; members with an e-mail address are only in participants',
    ),
    participants: Type.Array(
      Type.Object({
        participant_id: string('Unique for this person in this group'),
        handle: string('Phone number or e-mail address'),
        phone: nullable('string', 'Phone number, E.164'),
        name: nullable('string', 'Name of the contact, if there is one'),
        type: string('contact'),
        contact_id: nullable('string', 'Id of the contact, if there is one'),
        seat_id: nullable('string', 'Always null: seats are not members of groups'),
      }),
      { description: 'All members except the line' },
    ),
  },
  { title: 'Group' },
)

/** `contacts` holds the members' contacts that the caller may see, by phone. */
export function groupWire(
  group: Group,
  latest: LatestMessage | undefined,
  contacts: ReadonlyMap<string, Contact>,
) {
  const handles = handlesOf(group)
  return {
    group_id: group.id,
    group_name: group.name ?? '',
    group_photo: photoWire(group.photo),
    created_at: formatTime(group.createdAt),
    updated_at: formatTime(group.updatedAt),
    latest_comm_at: latest ? formatTime(latest.at) : null,
    latest_message_id: latest?.handle ?? null,
    worker_group_id: group.chatId,
    participant_numbers: handles.filter(isPhone),
    participants: group.members.map(({ id, handle }) => {
      const contact = contacts.get(handle)
      return {
        participant_id: id,
        handle,
        phone: isPhone(handle) ? handle : null,
        name: (contact && `${contact.firstName} ${contact.lastName}`.trim()) || null,
        type: 'contact',
        contact_id: contact?.id ?? null,
        seat_id: null,
      }
    }),
  }
}

export function photoWire(photo: GroupPhoto | null) {
  return photo && { photo_guid: photo.guid, url: photo.url }
}

/** All members of a group including the line. */
export function participantsOf(group: Group, lineNumber: string): string[] {
  return [...handlesOf(group), lineNumber]
}

function isPhone(handle: string): boolean {
  return handle.startsWith('+')
}
