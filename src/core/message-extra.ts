/** What only some messages have, beside what all have. A message without any of it carries null. */
export interface MessageExtra {
  /** All images of a carousel, in order; mediaUrl is the first. */
  mediaUrls?: string[]
  /** The caller's own JSON about a carousel, given back with every report on it. */
  metadata?: unknown
  appCard?: OutboundAppCard | InboundAppCard
  /** An inbound share of a place. */
  location?: LocationFix
  /** First message of the reply thread. */
  threadOriginator?: { handle: string; partIndex: number | null }
  /** Asks the recipient to share a location; there is no text. */
  requestsLocation?: true
}

/** Whether only iMessage can carry it: it never goes out as an empty text instead. */
export function needsIMessage(extra: MessageExtra | null): boolean {
  return extra?.requestsLocation === true
}

export interface AppCardLayout {
  caption?: string
  subcaption?: string
  trailingCaption?: string
  trailingSubcaption?: string
  summary?: string
  imageTitle?: string
  imageSubtitle?: string
  imageUrl?: string
}

export interface OutboundAppCard {
  appName: string
  extensionBundleId: string
  teamId: string
  layout: AppCardLayout
  url: string
  appStoreId?: number
  fallbackText?: string
  interactive?: boolean
  /** Cards of one session replace each other on the phone. */
  sessionIdentifier: string
  /** Of a continuation: the card it continues. */
  updateMessageHandle?: string
}

export interface InboundAppCard {
  balloonBundleId: string
  extensionBundleId: string
  teamId: string
  sessionIdentifier: string
  url: string
  /** Grows with every state of the session; the same for a repeat of the same state. */
  revision: number
}

export interface LocationFix {
  latitude: number
  longitude: number
  accuracy?: number
  altitude?: number
  duration?: string
  timestamp?: string
}
