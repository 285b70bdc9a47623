import { type Static, Type } from 'typebox'
import { MAX_ENTRIES, type WebhookConfig } from '../../core/webhooks/config.js'
import { WEBHOOK_TYPES, WEBHOOKS, type WebhookType } from '../../core/webhooks/types.js'
import type { WebhookSchedule } from '../../core/webhooks/webhook.js'
import { oneOf, optional, string } from '../http/schemas.js'

export const SCHEDULES: readonly WebhookSchedule[] = ['standard', 'extended']

const url =
  'https URL to post to, at most 2048 characters; on a server for this machine only, http to it as well'
const secretText = 'visible ASCII, 1 to 256 characters'
const WITHOUT_LINES = WEBHOOK_TYPES.filter((type) => WEBHOOKS[type].noLines)
const Entry = Type.Unsafe<string | Record<string, unknown>>({
  anyOf: [
    { type: 'string', description: `A webhook without settings of its own: its ${url}` },
    {
      type: 'object',
      required: ['url'],
      additionalProperties: true,
      description: 'A webhook with settings. Keys that are not listed here are kept and given back.',
      properties: {
        url: { type: 'string', description: url },
        secret: { type: 'string', description: `Goes before globalSecret for this webhook; ${secretText}` },
        sendblue_numbers: {
          type: 'array',
          items: { type: 'string' },
          description: `Only what happens on these lines, E.164; not for ${WITHOUT_LINES.join(', ')}. Leave it out for all lines.`,
        },
        retry_schedule: {
          type: 'string',
          enum: [...SCHEDULES],
          description:
            'How long a delivery that fails is tried again: standard (3 times within minutes; the default) or extended (about three days)',
        },
      },
    },
  ],
})

const lists = Object.fromEntries(
  WEBHOOK_TYPES.map((type) => [
    type,
    optional(
      Type.Array(Entry, { description: `${WEBHOOKS[type].label}: where to tell; at most ${MAX_ENTRIES}` }),
    ),
  ]),
)
export const GlobalSecret = optional(
  string(`Secret of all webhooks that have none of their own; ${secretText}`),
)
export const LegacySecret = optional(
  string(`Older place of globalSecret, which goes before it; ${secretText}`, { deprecated: true }),
)
export const Webhooks = Type.Object(
  { ...lists, globalSecret: GlobalSecret, secret: LegacySecret },
  {
    additionalProperties: true,
    description: 'One list for each type, and the secret. Other keys are kept and given back.',
  },
)
export const Entries = Type.Array(Entry, { description: `URLs, or objects with url; at most ${MAX_ENTRIES}` })
export const TypeField = optional(oneOf<WebhookType>(WEBHOOK_TYPES, 'Which list; default receive'))

/** The configuration as it goes out: no key without a value, because clients stumble over null. */
export function webhooksWire({ settings, webhooks }: WebhookConfig): Static<typeof Webhooks> {
  const { globalSecret, legacySecret, extra } = settings
  return {
    ...extra,
    ...Object.fromEntries(
      WEBHOOK_TYPES.map((type) => [
        type,
        webhooks.filter((webhook) => webhook.type === type).map(({ given }) => given),
      ]),
    ),
    ...(globalSecret === null ? {} : { globalSecret }),
    ...(legacySecret === null ? {} : { secret: legacySecret }),
  }
}
