import { type Static, Type } from 'typebox'
import type { Capabilities } from '../../core/lines/line.js'

/** Settings of a line on a Mac that runs BlueBubbles Server, or a server that speaks its API. */
export const BlueBubblesSettings = Type.Object({
  url: Type.String({
    title: 'URL',
    pattern: '^https?://[^\\s?#]+$',
    maxLength: 2000,
    description: 'URL of the server on the Mac, such as http://192.168.1.20:1234',
    examples: ['http://192.168.1.20:1234'],
    destination: true,
  }),
  password: Type.String({
    minLength: 1,
    maxLength: 200,
    secret: true,
    description: 'Password of the server, from its window on the Mac',
  }),
  server: Type.Optional(
    Type.Union([Type.Literal('electron'), Type.Literal('swift'), Type.Literal('imessage_rs')], {
      description:
        'The server program: electron (BlueBubbles 1.9, the default), swift (its rewrite, with more features) or imessage_rs',
    }),
  ),
  sms: Type.Optional(
    Type.Boolean({
      title: 'SMS',
      description:
        'Send SMS through this Mac as well; its iPhone forwards them (Text Message Forwarding); default false',
    }),
  ),
  find_my: Type.Optional(
    Type.Boolean({
      description:
        'The server can read locations shared with this Mac (Find My); default true for swift. electron can on macOS 11 to 13.',
    }),
  ),
  opener: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Text to send first when media or a card without text starts a conversation, because the server can start one only with text; default 👋',
    }),
  ),
  poll_ms: Type.Optional(
    Type.Integer({
      minimum: 1000,
      maximum: 86_400_000,
      description: 'Poll interval in milliseconds, as a fallback for webhooks; default 20000',
    }),
  ),
  webhooks: Type.Optional(
    Type.Boolean({
      description:
        'Let the Mac report news by webhook at once; needs a URL of this server that the Mac can reach; default true',
    }),
  ),
})
export type BlueBubblesSettings = Static<typeof BlueBubblesSettings>

/** Features that not every server program has. */
export interface Abilities {
  appCards: boolean
  locationRequests: boolean
  emojiTapbacks: boolean
  /** A request to stop typing stops it. */
  stopsTyping: boolean
  /** Webhooks can be registered through its API. */
  registersWebhooks: boolean
}

const ABILITIES: Record<NonNullable<BlueBubblesSettings['server']>, Abilities> = {
  electron: {
    appCards: false,
    locationRequests: false,
    emojiTapbacks: false,
    stopsTyping: false,
    registersWebhooks: true,
  },
  swift: {
    appCards: true,
    locationRequests: true,
    emojiTapbacks: true,
    stopsTyping: true,
    registersWebhooks: true,
  },
  imessage_rs: {
    appCards: false,
    locationRequests: false,
    emojiTapbacks: false,
    stopsTyping: true,
    registersWebhooks: false,
  },
}

export function abilitiesOf({ server = 'electron' }: Pick<BlueBubblesSettings, 'server'>): Abilities {
  return ABILITIES[server]
}

export function capabilitiesOf(settings: BlueBubblesSettings): Capabilities {
  const { sms, server, find_my = server === 'swift' } = settings
  return {
    services: sms ? ['iMessage', 'SMS'] : ['iMessage'],
    media: true,
    sendStyles: true,
    replies: true,
    groups: true,
    carousel: true,
    appCards: abilitiesOf(settings).appCards,
    location: find_my,
    reactions: true,
    typing: true,
    readReceipts: true,
    profile: true,
  }
}
