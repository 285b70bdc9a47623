/** Fields that only some messages have; null if a message has none. */
export interface MessageExtra {
  /** All images of a carousel, in order; mediaUrl is the first. */
  mediaUrls?: string[]
  /** The caller's JSON about a carousel, returned with every report. */
  metadata?: unknown
  appCard?: OutboundAppCard | InboundAppCard
  /** An inbound location share. */
  location?: LocationFix
  /** First message of the reply thread. */
  threadOriginator?: { handle: string; partIndex: number | null }
  /** For a tapback that arrived as a text: the carrier's id of the message it refers to. */
  reaction?: { providerId: string; partIndex: number; reaction: string; removed: boolean }
  /** For an incomplete long text: the received parts and the expected number. */
  partial?: { received: number[]; expected: number }
  /** A request to share a location, without a text. */
  requestsLocation?: true
  /** Scheduled send time. */
  sendAt?: number
}

/** Whether only iMessage can carry the message: another service would send an empty text. */
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
  /** For a continuation: the card that it continues. */
  updateMessageHandle?: string
}

export interface InboundAppCard {
  balloonBundleId: string
  extensionBundleId: string
  teamId: string
  sessionIdentifier: string
  url: string
  /** Number of the session's inbound states. Set when the card is stored; drivers pass 0. */
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
