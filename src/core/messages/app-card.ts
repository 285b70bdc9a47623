import { parseUrl } from '../../base/parse-url.js'
import type { AppCardLayout, InboundAppCard, MessageExtra, OutboundAppCard } from './extra.js'

/** The rules of App Cards, which a Messages extension draws in a conversation, state by state. */

const MAX_HTTPS_URL = 2048
export const MAX_DATA_URL = 16_384
export const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** A card as the caller gives it. */
export type CardInput = Omit<OutboundAppCard, 'sessionIdentifier' | 'updateMessageHandle'> & {
  sessionIdentifier?: string
}

/** Changes of a continuation; absent fields keep their values. */
export type CardChanges = Partial<Pick<OutboundAppCard, 'layout' | 'url' | 'fallbackText' | 'interactive'>>

/** The fault of a card, as a sentence that starts with the field; undefined for a valid card. */
export function cardFault(card: Pick<OutboundAppCard, 'layout' | 'url'>): string | undefined {
  const url = cardUrlFault(card.url)
  if (url) return `url: ${url}`
  for (const name of ['imageTitle', 'imageSubtitle'] as const) {
    if (card.layout[name] !== undefined && card.layout.imageUrl === undefined)
      return `layout.${name}: needs layout.imageUrl, the image it is written on`
  }
  return undefined
}

/** The URL goes to the extension on the recipient's phone; Trunkline never calls it. */
function cardUrlFault(url: string): string | undefined {
  if (/^data:/i.test(url)) {
    if (url.length > MAX_DATA_URL) return `a data URL must be at most ${MAX_DATA_URL} characters`
    return /^data:[^\s,]*,\S*$/i.test(url) ? undefined : 'must be a valid data URL, like data:,state'
  }
  if (url.length > MAX_HTTPS_URL) return `an https URL must be at most ${MAX_HTTPS_URL} characters`
  const isHttps = !/[\s\\]/.test(url) && parseUrl(url)?.protocol === 'https:'
  return isHttps ? undefined : 'must be an https URL or a data URL'
}

/** A new card. Without a given session, the message's handle is its session. */
export function newCard(input: CardInput, handle: string): OutboundAppCard {
  return { ...input, sessionIdentifier: input.sessionIdentifier ?? handle }
}

/** The next state of an earlier card. */
export function continuedCard(card: OutboundAppCard, handle: string, changes: CardChanges): OutboundAppCard {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  return { ...card, ...given, updateMessageHandle: card.updateMessageHandle ?? handle }
}

export function isInboundCard(card: OutboundAppCard | InboundAppCard | undefined): card is InboundAppCard {
  return card !== undefined && 'balloonBundleId' in card
}

/** The card of an outbound message, if it has one. */
export function sentCard(extra: MessageExtra | null): OutboundAppCard | undefined {
  const card = extra?.appCard
  return card && !isInboundCard(card) ? card : undefined
}

/** Sessions are UUIDs; case does not matter. */
export function cardSession(extra: MessageExtra | null): string | null {
  return extra?.appCard?.sessionIdentifier.toLowerCase() ?? null
}

/** The id of an extension in Messages. */
export function balloonBundleId(teamId: string, extensionBundleId: string): string {
  return `com.apple.messages.MSMessageExtensionBalloonPlugin:${teamId}:${extensionBundleId}`
}

export const LAYOUT_FIELDS = [
  'caption',
  'subcaption',
  'trailingCaption',
  'trailingSubcaption',
  'summary',
  'imageTitle',
  'imageSubtitle',
  'imageUrl',
] as const satisfies readonly (keyof AppCardLayout)[]
