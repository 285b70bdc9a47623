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
  /** Of a tapback that came as a text: what it is about, by the carrier's id. */
  reaction?: { providerId: string; partIndex: number; reaction: string; removed: boolean }
  /** Of a long text whose other parts did not come: those that did, and how many there should be. */
  partial?: { received: number[]; expected: number }
  /** Asks the recipient to share a location; there is no text. */
  requestsLocation?: true
  /** When its sender wanted it sent. */
  sendAt?: number
}

/** Whether only iMessage can carry it: it never goes out as an empty text instead. */
export function needsIMessage(extra: MessageExtra | null): boolean {
  if (extra === null) return false
  return extra.mediaUrls !== undefined || extra.appCard !== undefined || extra.requestsLocation === true
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
  /** Counts the states of the session that a person sent. Given when one is stored: drivers say 0. */
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
