import { type Static, Type } from 'typebox'
import type { Capabilities } from '../../core/lines/line.js'

/** Settings of a line on a Mac that runs BlueBubbles Server, or a server that speaks its API. */
export const BlueBubblesSettings = Type.Object({
  url: Type.String({
    pattern: '^https?://[^\\s?#]+$',
    maxLength: 2000,
    description: 'Where the server on the Mac answers, like http://192.168.1.20:1234',
  }),
  password: Type.String({
    minLength: 1,
    maxLength: 200,
    secret: true,
    description: 'Password of the server, as set in its window on the Mac',
  }),
  server: Type.Optional(
    Type.Union([Type.Literal('electron'), Type.Literal('swift'), Type.Literal('imessage_rs')], {
      description:
        'Which server it is: electron (BlueBubbles 1.9, the default), swift (its rewrite, which can do more) or imessage_rs',
    }),
  ),
  sms: Type.Optional(
    Type.Boolean({
      description:
        'Text messages go out through this Mac, too: its iPhone forwards them (Text Message Forwarding); default false',
    }),
  ),
  find_my: Type.Optional(
    Type.Boolean({
      description:
        'The server can tell where people are who share their place with this Mac; default true for swift. electron can on macOS 11 to 13.',
    }),
  ),
  opener: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'What is written first when a picture or card without a text opens a conversation, which the server cannot do by itself; default 👋',
    }),
  ),
  poll_ms: Type.Optional(
    Type.Integer({
      minimum: 1000,
      maximum: 86_400_000,
      description: 'How often the Mac is asked for news when it does not call; default 20000',
    }),
  ),
  webhooks: Type.Optional(
    Type.Boolean({
      description:
        'Have the Mac call when something happens, so that it is known at once; needs an address of this server that the Mac can reach; default true',
    }),
  ),
})
export type BlueBubblesSettings = Static<typeof BlueBubblesSettings>

/** What a server can do beyond what all of them can. */
export interface Abilities {
  appCards: boolean
  locationRequests: boolean
  emojiTapbacks: boolean
  /** Telling it to stop typing makes it stop. */
  stopsTyping: boolean
  /** It can be told where to call. */
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
