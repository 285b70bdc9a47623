import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import {
  accountSid,
  CODE_LENGTH,
  smsLink,
  THEMES,
  type Theme,
  TTL_SECONDS,
  VERIFICATION_STATUSES,
  type Verification,
  type VerificationStatus,
  type VerifyService,
} from '../../core/verify/verification.js'
import type { Ctx } from '../../services/ctx.js'
import { renderer } from '../http/render.js'
import { routesOf } from '../http/routes.js'
import { boolean, integer, nullable, oneOf, optional, string } from '../http/schemas.js'

/** Verify services and verifications on the wire. */

/** Accepts HTTP Basic. Verifications belong to the account, so confined tokens are refused. */
export const verifyRoute = routesOf('Verify', { access: 'account', basic: true })
export const ServiceParams = Type.Object({ service_sid: string('Sid of the service') })

const VISIBLE =
  '^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$'

export const NewService = Type.Object(
  {
    friendly_name: string('Name of the service; default brand name of the widget', {
      maxLength: 100,
      pattern: VISIBLE,
    }),
    code_length: optional(
      integer(`Digits of a code; default ${CODE_LENGTH.default}`, {
        minimum: CODE_LENGTH.min,
        maximum: CODE_LENGTH.max,
      }),
    ),
    ttl_seconds: optional(
      integer(`Validity of a code in seconds; default ${TTL_SECONDS.default}`, {
        minimum: TTL_SECONDS.min,
        maximum: TTL_SECONDS.max,
      }),
    ),
    use_customer_lines: optional(
      boolean(
        "true: people text codes to one of the account's dedicated lines. false (default): to its shared line, or to a dedicated line when it has no shared line.",
      ),
    ),
  },
  { title: 'NewVerifyService' },
)

export const NewVerificationBody = Type.Object(
  {
    to: string('The number to verify, E.164: the code must be texted from it'),
    hosted: Type.Optional(
      Type.Object(
        {
          parent_origin: string(
            'The exact site that shows the widget: https and a host name, or http on localhost and 127.0.0.1',
            { maxLength: 300 },
          ),
          accent_color: optional(string('Six hexadecimal digits', { pattern: '^#?[0-9a-fA-F]{6}$' })),
          brand_name: optional(string("Default: the service's name", { maxLength: 60, pattern: VISIBLE })),
          theme: optional(oneOf<Theme>(THEMES, 'Default auto')),
        },
        // Otherwise a misspelt option goes unnoticed until a customer sees the widget.
        { additionalProperties: false },
      ),
    ),
  },
  { title: 'NewVerification' },
)

const iso = (description: string) => string(`${description}, ISO 8601`)

export const ServiceWire = Type.Object(
  {
    sid: string('SV and 32 hexadecimal digits'),
    account_sid: string('The account'),
    friendly_name: string('Name'),
    code_length: integer('Digits of a code'),
    ttl_seconds: integer('Validity of a code in seconds'),
    use_customer_lines: boolean("Whether codes go to the account's dedicated lines"),
    date_created: iso('When it was created'),
    date_updated: iso('When it last changed'),
    url: string('URL of this resource'),
  },
  { title: 'VerifyService' },
)

const status = oneOf<VerificationStatus>(VERIFICATION_STATUSES, 'pending, then one of the others permanently')
const channel = oneOf<'imessage'>(['imessage'], 'Always imessage')
const state = {
  sid: string('VR and 32 hexadecimal digits'),
  service_sid: string('Its service'),
  channel,
  status,
  to: nullable('string', 'The number to verify'),
  date_created: iso('When it was created'),
  date_updated: iso('When its status last changed'),
}

export const VerificationState = Type.Object({
  ...state,
  date_completed: nullable('string', 'When it ended, ISO 8601; null while pending'),
})

const Hosted = Type.Object(
  {
    session_id: string('The widget session'),
    url: string('Page of the widget, with its token in the fragment. Do not log it.'),
    component_script: string('Script that defines <trunkline-verify src="url">'),
    expires_at: iso('When the verification expires'),
  },
  { description: 'Only in the answer to a request with `hosted`' },
)

export const VerificationWire = Type.Object(
  {
    ...state,
    account_sid: string('The account'),
    expires_at: iso('When it expires'),
    url: string('URL of this resource'),
    delivery_target: optional(
      Type.Object(
        {
          code: string('What to text'),
          pool_number: string('Number to text it to'),
          sms_deep_link: string('Opens the messaging app with number and code filled in'),
        },
        { title: 'DeliveryTarget', description: 'While pending' },
      ),
    ),
  },
  { title: 'Verification' },
)
export const StartedVerification = Type.Object(
  { ...VerificationWire.properties, hosted: optional(Hosted) },
  { title: 'StartedVerification' },
)

const renderService = renderer<VerifyService & { base: string }>()(ServiceWire, {
  account_sid: ({ accountId }) => accountSid(accountId),
  date_created: ({ createdAt }) => formatTime(createdAt),
  date_updated: ({ createdAt }) => formatTime(createdAt),
  url: ({ base, sid }) => `${base}/api/v2/verify/services/${sid}`,
})
export const serviceWire = (service: VerifyService, base: string) => renderService({ ...service, base })

function stateOf(verification: Verification) {
  return {
    sid: verification.sid,
    service_sid: verification.serviceSid,
    channel: 'imessage' as const,
    status: verification.status,
    to: verification.to,
    date_created: formatTime(verification.createdAt),
    date_updated: formatTime(verification.updatedAt),
  }
}

export function stateWire(verification: Verification): Static<typeof VerificationState> {
  const { completedAt } = verification
  return { ...stateOf(verification), date_completed: completedAt === null ? null : formatTime(completedAt) }
}

export function verificationWire(verification: Verification, base: string): Static<typeof VerificationWire> {
  const { sid, serviceSid, code, poolNumber } = verification
  return {
    ...stateOf(verification),
    account_sid: accountSid(verification.accountId),
    expires_at: formatTime(verification.expiresAt),
    url: `${base}/api/v2/verify/services/${serviceSid}/verifications/${sid}`,
    ...(verification.status === 'pending'
      ? { delivery_target: { code, pool_number: poolNumber, sms_deep_link: smsLink(verification) } }
      : {}),
  }
}

/** The URL under which the caller reaches this server. */
export function baseUrl(ctx: Ctx, request: FastifyRequest): string {
  return ctx.config.publicUrl ?? `${request.protocol}://${request.host}`
}
