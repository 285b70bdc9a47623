import { type Static, Type } from 'typebox'
import { type CardInput, LAYOUT_FIELDS, UUID } from '../../core/messages/app-card.js'
import type { AppCardLayout, InboundAppCard, OutboundAppCard } from '../../core/messages/extra.js'
import { given } from '../http/fields.js'
import { boolean, integer, optional, string } from '../http/schemas.js'

/** App Cards on the wire. Their fields are camelCase, as in the Messages extensions. */

const MAX_TEXT = 4096
const text = (description: string) => optional(string(description, { maxLength: MAX_TEXT }))
const name = (description: string) => string(description, { minLength: 1, maxLength: 255 })

export const LayoutWire = Type.Object(
  {
    caption: text('First line, on the left'),
    subcaption: text('Second line, on the left'),
    trailingCaption: text('First line, on the right'),
    trailingSubcaption: text('Second line, on the right'),
    summary: text('Text for notifications and for devices that cannot show the card'),
    imageTitle: text('Title on the image; needs imageUrl'),
    imageSubtitle: text('Second line on the image; needs imageUrl'),
    imageUrl: optional(
      string('HTTPS preview image: JPEG, PNG, HEIC, HEIF or WebP, up to 10 MB', { minLength: 1 }),
    ),
  },
  { title: 'AppCardLayout', description: 'Visible fields of the card' },
)

const CARD_URL =
  'Delivered to the extension on tap: an https URL up to 2048 characters, or a data URL with inline state up to 16384'
export const CardUrl = string(CARD_URL, { minLength: 1 })

export const ABOUT_CARD = 'An App Card. Needs a V2 Mac line and a recipient on iMessage; never sent by SMS'

export const AppCardInput = Type.Object(
  {
    appName: name('Name of the app'),
    extensionBundleId: name('Bundle id of the Messages extension'),
    teamId: name('Team id of the app'),
    layout: LayoutWire,
    url: CardUrl,
    appStoreId: optional(integer('App Store id, for recipients without the extension', { minimum: 1 })),
    fallbackText: text('Text for notifications and for devices that cannot show the card'),
    interactive: optional(
      boolean('true: live layout where the extension is installed; false: always static'),
    ),
    sessionIdentifier: optional(
      string('Your own UUID for the session; default: a new one', {
        pattern: UUID.source.replaceAll('\\da-f', '\\da-fA-F'),
      }),
    ),
  },
  { description: ABOUT_CARD },
)

/** An outbound or inbound card. */
export const AppCardWire = Type.Object(
  {
    appName: optional(string('Name of the app; only for outbound cards')),
    extensionBundleId: string('Bundle id of the Messages extension'),
    teamId: string('Team id of the app'),
    layout: optional(LayoutWire),
    url: string('State of the card'),
    appStoreId: optional(integer('App Store id')),
    fallbackText: text('Text for notifications and for devices that cannot show the card'),
    interactive: optional(boolean('Whether the live layout is used')),
    sessionIdentifier: string('Session id; a card replaces the earlier card of its session on the phone'),
    updateMessageHandle: optional(string('For a continuation, handle of the original card')),
    balloonBundleId: optional(string('Name of the extension in Messages; only for inbound cards')),
    revision: optional(integer('Sequence number among the cards received in the session')),
  },
  { title: 'AppCard', description: 'App Card of the message; omitted without one' },
)

export function cardOf(body: Static<typeof AppCardInput>): CardInput {
  const {
    appName,
    extensionBundleId,
    teamId,
    url,
    appStoreId,
    fallbackText,
    interactive,
    sessionIdentifier,
  } = body
  return {
    appName,
    extensionBundleId,
    teamId,
    layout: layoutOf(body.layout),
    url,
    ...given({ appStoreId, fallbackText, interactive, sessionIdentifier }),
  }
}

/** The known fields of a layout only. */
export function layoutOf(layout: Static<typeof LayoutWire>): AppCardLayout {
  return given(Object.fromEntries(LAYOUT_FIELDS.map((field) => [field, layout[field]])))
}

export function appCardWire(card: OutboundAppCard | InboundAppCard): Static<typeof AppCardWire> {
  return { ...card }
}
