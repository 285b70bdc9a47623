import type { Conversation } from '../../api/types'

/** The name of the contact or group; otherwise its number or members. */
export function nameOf({ name, conversation, group_id, participants }: Conversation): string {
  return name ?? (group_id ? participants.join(', ') || 'Group' : conversation)
}

export function initialsOf({ name, conversation }: Conversation): string {
  if (!name) return conversation.slice(-2)
  return name
    .split(' ')
    .map((word) => word.charAt(0))
    .slice(0, 2)
    .join('')
}
