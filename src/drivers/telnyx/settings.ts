import { type Static, Type } from 'typebox'
import { type Capabilities, TEXT_ONLY } from '../../core/lines/line.js'

/** Settings of a line that is a number at Telnyx. */
export const TelnyxSettings = Type.Object({
  api_key: Type.String({
    title: 'API key',
    minLength: 1,
    maxLength: 300,
    pattern: '^[\\x21-\\x7e]+$',
    secret: true,
    description: 'API key (version 2) of the account that owns the number, from the Telnyx portal',
  }),
  public_key: Type.Optional(
    Type.String({
      title: 'Public key',
      pattern: '^[A-Za-z0-9+/]{43}=$',
      description:
        'Public key of the account, which checks the signature of webhooks. Without it Trunkline reads webhooks from the log of Telnyx',
      examples: ['AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='],
    }),
  ),
  messaging_profile_id: Type.Optional(
    Type.String({
      title: 'Messaging profile',
      pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
      description:
        'Messaging profile that the number must belong to; default is the one that Telnyx names for it',
    }),
  ),
  mms: Type.Optional(
    Type.Boolean({
      title: 'MMS',
      description: 'Send files as MMS; default true. Turn it off for a number without MMS',
    }),
  ),
  rcs_agent_id: Type.Optional(
    Type.String({
      title: 'RCS agent',
      pattern: '^[A-Za-z0-9_.-]{1,100}$',
      description:
        'RCS agent of the account that sends for this line. Messages then go by RCS to phones that have it, and as SMS or MMS to all others',
    }),
  ),
  poll_ms: Type.Optional(
    Type.Integer({
      minimum: 1000,
      maximum: 3_600_000,
      description:
        'How often Telnyx is asked for webhooks that did not get through, in milliseconds; default 15000',
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
        'Point the webhooks of the messaging profile and of the application for calls at this server when the line connects; default false',
    }),
  ),
  api_url: Type.Optional(
    Type.String({
      title: 'API URL',
      pattern: '^https?://[^\\s?#@]+$',
      maxLength: 2000,
      description: 'Address of the API; default https://api.telnyx.com/v2',
      destination: true,
    }),
  ),
})
export type TelnyxSettings = Static<typeof TelnyxSettings>

/** Telnyx refuses an MMS of 1 MB or more. */
const MMS_LIMITS = { '*': 1_000_000 }

export function capabilitiesOf({ mms = true, rcs_agent_id: agent }: Partial<TelnyxSettings>): Capabilities {
  const texts: Capabilities = { ...TEXT_ONLY, media: mms, groups: mms, mediaLimits: { SMS: MMS_LIMITS } }
  if (agent === undefined) return texts
  return { ...texts, services: ['RCS', 'SMS'], carousel: true, typing: true, readReceipts: true }
}
