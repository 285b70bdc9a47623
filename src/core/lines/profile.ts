/** The name and photo a line shows to others. */
export interface Card {
  firstName: string | null
  lastName: string | null
  /** Chosen display name; null derives it from the other names. */
  displayName: string | null
  photoUrl: string | null
}

export const EMPTY_CARD: Card = { firstName: null, lastName: null, displayName: null, photoUrl: null }

/** An absent field stays unchanged; an empty or null field is removed. */
export interface CardChange {
  firstName?: string
  lastName?: string
  displayName?: string
  photoUrl?: string | null
  remove?: true
}

export function changedCard(card: Card, change: CardChange): Card {
  if (change.remove) return EMPTY_CARD
  const text = (given: string | null | undefined, before: string | null) =>
    given === undefined ? before : given || null
  return {
    firstName: text(change.firstName, card.firstName),
    lastName: text(change.lastName, card.lastName),
    displayName: text(change.displayName, card.displayName),
    photoUrl: text(change.photoUrl, card.photoUrl),
  }
}

/** The name and photo that recipients see; undefined without both. */
export function profileOf(card: Card) {
  const { firstName, lastName, displayName, photoUrl } = card
  const names = [firstName, lastName].filter((name) => name !== null).join(' ')
  const hasProfile = names !== '' || displayName !== null || photoUrl !== null
  return {
    hasProfile,
    sharingEnabled: hasProfile,
    firstName,
    lastName,
    displayName: displayName ?? (names || null),
    hasPhoto: photoUrl !== null,
  }
}
