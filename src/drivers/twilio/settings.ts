import { type Static, Type } from 'typebox'
import { type Capabilities, TEXT_ONLY } from '../../core/lines/line.js'
import { rcsWay, servicesOf } from './channels.js'

/** Settings of a line that is a number at Twilio. */
export const TwilioSettings = Type.Object({
  account_sid: Type.String({
    title: 'Account SID',
    pattern: '^AC[0-9a-fA-F]{32}$',
    description: 'Account or subaccount that owns the number, from the Twilio console',
    examples: ['AC00000000000000000000000000000000'],
    destination: true,
  }),
  auth_token: Type.Optional(
    Type.String({
      title: 'Auth token',
      minLength: 1,
      maxLength: 200,
      secret: true,
      description:
        'Primary auth token of that account. It also checks the signature of webhooks, so without it Trunkline only asks Twilio for news',
    }),
  ),
  secondary_token: Type.Optional(
    Type.String({
      title: 'Secondary auth token',
      minLength: 1,
      maxLength: 200,
      secret: true,
      description: 'Second auth token whose signatures are accepted, while you rotate tokens',
    }),
  ),
  api_key: Type.Optional(
    Type.String({
      title: 'API key SID',
      pattern: '^SK[0-9a-fA-F]{32}$',
      description: 'API key to send with, instead of the auth token',
    }),
  ),
  api_secret: Type.Optional(
    Type.String({
      title: 'API key secret',
      minLength: 1,
      maxLength: 200,
      secret: true,
      description: 'Secret of that API key',
    }),
  ),
  channel: Type.Optional(
    Type.Union([Type.Literal('sms'), Type.Literal('whatsapp')], {
      title: 'Channel',
      description:
        'whatsapp: the number is a WhatsApp sender, and the line speaks WhatsApp only; default sms',
    }),
  ),
  messaging_service_sid: Type.Optional(
    Type.String({
      title: 'Messaging Service SID',
      pattern: '^MG[0-9a-fA-F]{32}$',
      description: 'SID of the Messaging Service that the number belongs to; messages then leave through it',
    }),
  ),
  rcs: Type.Optional(
    Type.Boolean({
      title: 'RCS',
      description:
        'The Messaging Service has an RCS sender: Twilio sends by RCS to phones that have it, and by SMS from the number to others; default false',
    }),
  ),
  rcs_sender: Type.Optional(
    Type.String({
      title: 'RCS sender',
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$',
      description:
        'ID of your RCS sender at Twilio, without rcs:. Without rcs, messages leave from it, and as SMS if RCS does not reach the phone',
    }),
  ),
  mms: Type.Optional(
    Type.Boolean({
      title: 'MMS',
      description: 'Send files as MMS; default true. Turn it off for a number without MMS',
    }),
  ),
  validity_s: Type.Optional(
    Type.Integer({
      title: 'Validity in seconds',
      minimum: 1,
      maximum: 36_000,
      description: 'How long a message may wait in Twilio before it fails; default 36000',
    }),
  ),
  poll_ms: Type.Optional(
    Type.Integer({
      minimum: 1000,
      maximum: 3_600_000,
      description:
        'How often Twilio is asked for messages that no webhook brought, in milliseconds; default 15000',
    }),
  ),
  voice: Type.Optional(
    Type.Boolean({
      title: 'Calls',
      description:
        'Forward and report calls to the number. By default Trunkline takes calls that go nowhere else; true takes them in any case, false never',
    }),
  ),
  wire: Type.Optional(
    Type.Boolean({
      description:
        'Point the webhooks for messages and calls to the number at this server when the line connects; default false',
    }),
  ),
  api_url: Type.Optional(
    Type.String({
      title: 'API URL',
      pattern: '^https?://[^\\s?#@]+$',
      maxLength: 2000,
      description:
        'Address of the API, such as https://api.dublin.ie1.twilio.com; default https://api.twilio.com',
      destination: true,
    }),
  ),
})
export type TwilioSettings = Static<typeof TwilioSettings>

/** Twilio makes pictures of these types smaller by itself, as the recipient's network needs. */
const PICTURE_BYTES = 5_000_000
const MMS_LIMITS = {
  'image/jpeg': PICTURE_BYTES,
  'image/png': PICTURE_BYTES,
  'image/gif': PICTURE_BYTES,
  '*': 500_000,
}

const RCS_LIMITS = { '*': 16_000_000 }

export function capabilitiesOf(settings: Partial<TwilioSettings>): Capabilities {
  return {
    ...TEXT_ONLY,
    services: servicesOf(settings),
    media: settings.mms ?? true,
    // A Messaging Service may send the same file as MMS.
    mediaLimits: { SMS: MMS_LIMITS, RCS: rcsWay(settings) === 'service' ? MMS_LIMITS : RCS_LIMITS },
  }
}
