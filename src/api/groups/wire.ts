import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import type { Contact } from '../../core/contacts/contact.js'
import { AppError } from '../../core/errors.js'
import { type Group, type GroupPhoto, handlesOf } from '../../core/groups/group.js'
import type { LatestMessage } from '../../storage/groups/groups.js'
import { nullable, string, strings } from '../http/schemas.js'

/** Groups as they look on the wire. */

const MAX_NAME = 250

export const GroupName = string('Name that phones show; empty or null for none. Not only spaces.', {
  maxLength: MAX_NAME,
})

/** A name, or null for none. */
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
    url: { type: 'string', description: 'Where the photo is' },
  },
  required: ['photo_guid', 'url'],
})

export const GroupWire = Type.Object({
  group_id: string('The group'),
  group_name: string('Its name; empty when it has none'),
  group_photo: GroupPhotoWire,
  created_at: string('When it was first known, ISO 8601'),
  updated_at: string('When its people, name or photo last changed'),
  latest_comm_at: nullable('string', 'Time of its newest message'),
  latest_message_id: nullable('string', 'Handle of its newest message'),
  worker_group_id: nullable('string', "The carrier's own id of the chat, when it is known"),
  participant_numbers: strings(
    'Phone numbers of its people; who is there by e-mail address is only in participants',
  ),
  participants: Type.Array(
    Type.Object({
      participant_id: string('Unique for this person in this group'),
      handle: string('Phone number or e-mail address'),
      phone: nullable('string', 'Phone number, E.164'),
      name: nullable('string', "The contact's name, when there is one"),
      type: string('contact'),
      contact_id: nullable('string', 'The contact, when there is one'),
      seat_id: nullable('string', 'Always null: nobody of the own team is in it by seat'),
    }),
    { description: 'Everyone in it beside the line' },
  ),
})

/** `contacts` are those of its people that the caller may see, by phone. */
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

/** Everyone in a group, the line among them. */
export function participantsOf(group: Group, lineNumber: string): string[] {
  return [...handlesOf(group), lineNumber]
}

function isPhone(handle: string): boolean {
  return handle.startsWith('+')
}
