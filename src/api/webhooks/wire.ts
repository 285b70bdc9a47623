import { type Static, Type } from 'typebox'
import { BUDGETS } from '../../core/accounts/budgets.js'
import type { WebhookConfig } from '../../core/webhooks/config.js'
import { SECRET_RULE } from '../../core/webhooks/secret.js'
import { WEBHOOK_TYPES, WEBHOOKS, type WebhookType } from '../../core/webhooks/types.js'
import type { WebhookSchedule } from '../../core/webhooks/webhook.js'
import { oneOf, optional, string } from '../http/schemas.js'

const AT_MOST = `As many as the budget of webhooks allows; default ${BUDGETS.webhooks.limit}`

export const SCHEDULES: readonly WebhookSchedule[] = ['standard', 'extended']

const url =
  'https URL to post to, at most 2048 characters; on a loopback server also an http URL of the same machine'
const secretText = SECRET_RULE
const WITHOUT_LINES = WEBHOOK_TYPES.filter((type) => WEBHOOKS[type].noLines)
const Entry = Type.Unsafe<string | Record<string, unknown>>({
  anyOf: [
    { type: 'string', description: `A webhook without settings: ${url}` },
    {
      title: 'Webhook',
      type: 'object',
      required: ['url'],
      additionalProperties: true,
      description: 'A webhook with settings. Unknown keys are stored and returned.',
      properties: {
        url: { type: 'string', description: url },
        secret: {
          type: 'string',
          description: `Secret of this webhook instead of globalSecret; ${secretText}`,
        },
        legacy_secret_header: {
          type: 'boolean',
          description:
            'Whether deliveries also carry the secret itself, in sb-signing-secret, for receivers that do not check the signature; default true',
        },
        sendblue_numbers: {
          type: 'array',
          items: { type: 'string' },
          description: `Only events of these lines, E.164; not for ${WITHOUT_LINES.join(', ')}. Default: all lines`,
        },
        retry_schedule: {
          type: 'string',
          enum: [...SCHEDULES],
          description:
            'How long a failed delivery is retried: standard (3 retries within minutes; a 4xx answer other than 408, 421, 425 and 429 ends the delivery; the default) or extended (about three days, after every answer but 2xx and 410)',
        },
      },
    },
  ],
})

const lists = Object.fromEntries(
  WEBHOOK_TYPES.map((type) => [
    type,
    optional(Type.Array(Entry, { description: `Webhooks for: ${WEBHOOKS[type].label}. ${AT_MOST}` })),
  ]),
)
export const GlobalSecret = optional(string(`Secret of all webhooks without their own; ${secretText}`))
export const LegacySecret = optional(
  string(`Older name of globalSecret, which takes precedence; ${secretText}`, { deprecated: true }),
)
export const Webhooks = Type.Object(
  { ...lists, globalSecret: GlobalSecret, secret: LegacySecret },
  {
    title: 'Webhooks',
    additionalProperties: true,
    description: 'One list for each type, and the secret. Unknown keys are stored and returned.',
  },
)
export const Entries = Type.Array(Entry, { description: `URLs, or objects with url. ${AT_MOST}` })
/** A list for `type`, or an object of lists as PUT takes it. */
export const Additions = Type.Unsafe<Static<typeof Entries> | Static<typeof Webhooks>>({
  anyOf: [Entries, Webhooks],
  description: 'A list of entries for type, or an object with a list for each type, as PUT takes it',
})
export const TypeField = optional(oneOf<WebhookType>(WEBHOOK_TYPES, 'Type of webhook; default receive'))

/** The configuration on the wire. Keys without a value are omitted: clients do not expect null. */
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
