import { membersKey } from '../../core/groups/group.js'
import { toE164 } from '../../core/phone-number.js'
import type { Group } from '../contract.js'
import type { GroupNews } from '../inbound.js'

const MOST_MEMBERS = 8

/** Why a group cannot exist as group MMS; undefined if it can. */
export function groupFault({ members, name }: Pick<Group, 'members' | 'name'>): string | undefined {
  if (members.length > MOST_MEMBERS) return `Group MMS has at most ${MOST_MEMBERS} recipients`
  if (!members.every((member) => toE164(member) === member)) return 'Group MMS reaches phone numbers only'
  return name === null ? undefined : 'Group MMS has no name'
}

/** The group of a message to several people. Telnyx has no id for it: the same people are the same group. */
export function groupNewsOf(members: readonly string[]): GroupNews {
  return { chatId: membersKey(members), groupId: null, members, name: null }
}
