import type { PhoneGroupChange } from '../sim/phone.js'

/** A notice that phones show between the messages of a group chat. */
export interface GroupStep {
  kind: 'made' | 'named' | 'unnamed' | 'photo' | 'added' | 'removed' | 'left'
  /** Who made the change. */
  by: string
  /** The new name, or the affected member. */
  value: string | null
  at: number
}

/** The notices of a chat, derived from its states after each change. */
export function groupSteps(changes: readonly PhoneGroupChange[]): GroupStep[] {
  return changes.flatMap((change, index) => {
    const before = changes[index - 1]
    const step = (kind: GroupStep['kind'], value: string | null): GroupStep => ({
      kind,
      by: change.actor,
      value,
      at: change.at,
    })
    if (!before) return [step('made', change.name)]
    const named = change.name === null ? step('unnamed', null) : step('named', change.name)
    return [
      ...(change.name === before.name ? [] : [named]),
      ...(change.photoUrl === before.photoUrl ? [] : [step('photo', change.photoUrl)]),
      ...change.members.filter((one) => !before.members.includes(one)).map((one) => step('added', one)),
      ...before.members
        .filter((one) => !change.members.includes(one))
        .map((one) => step(one === change.actor ? 'left' : 'removed', one)),
    ]
  })
}
