import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
// @ts-expect-error: scripts have no types.
import { inlined } from '../../scripts/inlined.js'
import { WEBHOOK_TYPES } from '../../src/core/webhooks/types.js'
import type { Json } from '../support/world.js'

/**
 * The interface's lists of fields against the API document, both ways: every listed field is there, and every
 * field that is there is listed, as part of the interface or as something its real clients know besides.
 */
const { paths } = inlined(JSON.parse(readFileSync('openapi.json', 'utf8')))

const words = (text: string) => text.trim().split(/\s+/)

const RECORD =
  words(`accountEmail content date_sent date_updated error_code error_detail error_message error_reason
  from_number to_number number sendblue_number group_display_name group_id participants is_outbound media_url
  message_handle message_type opted_out plan send_style service status was_downgraded reply_to thread_originator
  seat_id sender_email`)
const RECORD_BESIDES = words(
  'account_email date_created location row_id app_card metadata media_urls partial send_at',
)
const RESPONSE =
  words(`account_email content date_created date_updated error_code error_message from_number is_outbound
  media_url message_handle number send_style status reply_to seat_id sender_email app_card`)
const RESPONSE_BESIDES =
  words(`accountEmail date_sent to_number was_downgraded plan message_type group_id participants
  opted_out error_detail error_reason sendblue_number service group_display_name location thread_originator metadata media_urls row_id partial send_at`)
const CONTACT = words(`assigned_to_email company_name created_at custom_variables first_name last_name phone
  sendblue_number tags verified`)
const CONTACT_BESIDES =
  words(`contact_id opt_out firstName lastName companyName sendblueNumber customVariables
  assignedToEmail createdAt updated_at updatedAt optOut`)
const VERIFIED = words('created_at updated_at phone_number verification_status verified')
const SHARED_LINE = words('phone_number type')
const LOCATION = words(
  'accuracy address altitude latitude longitude expiresAt timestamp locationType refreshError',
)
const TOTP = words('id algorithm created_at digits issuer label period')
const VERIFICATION = words('channel date_created date_updated service_sid sid status date_completed to')
const LAYOUT = words(
  `caption imageSubtitle imageTitle imageUrl subcaption trailingCaption trailingSubcaption summary`,
)
const WEBHOOKS =
  words(`call_log contact_consent contact_created globalSecret inbound_call contact_profile line_assigned line_blocked
  outbound receive typing_indicator`)

interface List {
  at: string
  fields: string[]
  besides?: string[]
}

/** `METHOD path where`, where being `body`, `query` or a status, and then the way into the schema. */
const LISTS: List[] = [
  { at: 'GET /api/v2/messages 200 data []', fields: RECORD, besides: RECORD_BESIDES },
  { at: 'GET /api/v2/messages/{message_id} 200 data', fields: RECORD, besides: RECORD_BESIDES },
  { at: 'GET /api/v2/messages 200', fields: words('data pagination status') },
  { at: 'GET /api/v2/messages 200 pagination', fields: words('hasMore limit offset total') },
  {
    at: 'GET /api/v2/messages query',
    fields:
      words(`account_email created_at_gte created_at_lte from_number group_id is_outbound limit message_type
      number offset order_by order_direction sendblue_number sent_at_gte sent_at_lte service status to_number
      updated_at_gte updated_at_lte worker_id`),
  },
  { at: 'POST /api/send-message 202', fields: RESPONSE, besides: RESPONSE_BESIDES },
  { at: 'GET /api/status 200', fields: RESPONSE, besides: RESPONSE_BESIDES },
  { at: 'POST /api/send-group-message 202', fields: RESPONSE, besides: RESPONSE_BESIDES },
  {
    at: 'POST /api/send-message body',
    fields: words('content from_number number media_url send_style status_callback'),
    besides: words('reply_to app_card seat_id send_at'),
  },
  { at: 'POST /api/send-message body reply_to', fields: words('message_handle part_index') },
  {
    at: 'POST /api/send-message body app_card',
    fields: words('appName extensionBundleId layout url appStoreId fallbackText interactive'),
    besides: words('teamId sessionIdentifier reply_to'),
  },
  { at: 'POST /api/send-message body app_card layout', fields: LAYOUT },
  { at: 'GET /api/status query', fields: ['handle'] },
  {
    at: 'POST /api/send-carousel body',
    fields: words('from_number media_urls number metadata send_style status_callback'),
    besides: words('reply_to seat_id send_at'),
  },
  {
    at: 'POST /api/send-carousel 202',
    fields: words('accountEmail from_number is_outbound media_url message_handle message_type number status'),
    besides: [...RESPONSE, ...RESPONSE_BESIDES],
  },
  {
    at: 'POST /api/send-group-message body',
    fields: words('content from_number group_id media_url numbers'),
    besides: words('send_style status_callback reply_to seat_id send_at'),
  },
  {
    at: 'POST /api/modify-group body',
    fields: words('group_id modify_type number'),
    besides: ['from_number'],
  },
  {
    at: 'POST /api/modify-group 200',
    fields: words('message status'),
    besides: words('group_id modify_type number error error_message'),
  },
  { at: 'GET /api/v2/contacts 200 []', fields: CONTACT, besides: CONTACT_BESIDES },
  { at: 'GET /api/v2/contacts/{phone_number} 200 contact', fields: CONTACT, besides: CONTACT_BESIDES },
  { at: 'POST /api/v2/contacts/bulk 200 contacts []', fields: CONTACT, besides: CONTACT_BESIDES },
  {
    at: 'GET /api/v2/contacts query',
    fields: words('cid limit offset order_by order_direction phone_number'),
    besides: ['created_at_gte'],
  },
  {
    at: 'POST /api/v2/contacts body',
    fields: words(
      'number assigned_to_email custom_variables first_name last_name sendblue_number tags update_if_exists',
    ),
    besides: words('company_name opt_out'),
  },
  {
    at: 'PUT /api/v2/contacts/{phone_number} body',
    fields: words(
      'assigned_to_email company_name custom_variables first_name last_name sendblue_number tags',
    ),
    besides: ['opt_out'],
  },
  {
    at: 'POST /api/v2/contacts/bulk body contacts []',
    fields: words('phone company_name custom_variables first_name last_name tags'),
    besides: words('assigned_to_email sendblue_number number'),
  },
  { at: 'GET /api/v2/contacts/count 200', fields: ['count'], besides: ['status'] },
  { at: 'DELETE /api/v2/contacts body', fields: ['contact_ids'] },
  { at: 'DELETE /api/v2/contacts 200', fields: words('amount status') },
  { at: 'GET /v3/verified-contacts 200 data', fields: words('contacts line') },
  { at: 'GET /v3/verified-contacts 200 data contacts []', fields: VERIFIED },
  { at: 'GET /v3/verified-contacts 200 data line', fields: SHARED_LINE },
  { at: 'POST /v3/verified-contacts body', fields: ['phone_number'] },
  { at: 'POST /v3/verified-contacts 200 data', fields: words('contact line verification_instructions') },
  { at: 'GET /v3/verified-contacts/{phone_number} 200 data', fields: words('contact line') },
  { at: 'GET /api/location query', fields: ['from_number'] },
  { at: 'GET /api/location 200', fields: words('from_number locations status') },
  { at: 'GET /api/location 200 locations []', fields: words('location number state') },
  { at: 'GET /api/location 200 locations [] location', fields: LOCATION },
  { at: 'GET /api/location/{number} 200', fields: words('from_number location number state status') },
  { at: 'POST /api/request-location body', fields: words('from_number number') },
  {
    at: 'POST /api/request-location 2XX',
    fields: words('message message_handle number status uuid'),
  },
  {
    at: 'POST /api/v2/totp/secrets body',
    fields: words('algorithm digits issuer label period secret uri'),
  },
  { at: 'POST /api/v2/totp/secrets 2XX', fields: words('status totp_secret') },
  { at: 'POST /api/v2/totp/secrets 2XX totp_secret', fields: [...TOTP, 'secret'] },
  { at: 'GET /api/v2/totp/secrets 200', fields: words('status totp_secrets') },
  { at: 'GET /api/v2/totp/secrets 200 totp_secrets []', fields: TOTP },
  { at: 'GET /api/v2/totp/code/{secret_id} 200', fields: words('code expires_in status') },
  { at: 'GET /api/v2/verify/verifications query', fields: words('limit offset updated_at_gte') },
  { at: 'GET /api/v2/verify/verifications 200', fields: words('data pagination status') },
  {
    at: 'GET /api/v2/verify/verifications 200 data []',
    fields: VERIFICATION,
    besides: words('account_sid url expires_at'),
  },
  { at: 'GET /api/v2/verify/verifications 200 pagination', fields: words('count has_more limit offset') },
  ...['GET', 'PUT', 'DELETE'].map((method) => ({
    at: `${method} /api/lines/{sendblue_number}/call-forwarding 200`,
    fields: words('forwarding_number sendblue_number'),
    besides: ['status'],
  })),
  { at: 'PUT /api/lines/{sendblue_number}/call-forwarding body', fields: ['forwarding_number'] },
  ...['/api/account/webhooks', '/api/v2/account/webhooks'].flatMap((path): List[] => [
    { at: `GET ${path} 200`, fields: words('status webhooks') },
    { at: `GET ${path} 200 webhooks`, fields: WEBHOOKS, besides: [...WEBHOOK_TYPES] },
    {
      at: `GET ${path} 200 webhooks receive []`,
      fields: words('url secret'),
      besides: words('sendblue_numbers retry_schedule legacy_secret_header'),
    },
    { at: `POST ${path} body`, fields: words('webhooks type globalSecret') },
    { at: `POST ${path} 200`, fields: words('message status webhooks') },
    { at: `PUT ${path} body`, fields: ['webhooks'], besides: ['globalSecret'] },
    { at: `PUT ${path} body webhooks`, fields: WEBHOOKS, besides: [...WEBHOOK_TYPES] },
    { at: `PUT ${path} 200`, fields: words('message status webhooks') },
    { at: `DELETE ${path} body`, fields: words('webhooks type') },
    { at: `DELETE ${path} 200`, fields: words('message status') },
  ]),
  { at: 'POST /v3/auth/tokens body', fields: words('expires_in_seconds phone_number phone_numbers') },
  {
    at: 'POST /v3/auth/tokens 2XX',
    fields: words('token expires_at phone_numbers token_id token_type'),
  },
]

describe('fields of the interface', () => {
  it.each(LISTS)('$at', ({ at, fields, besides = [] }) => {
    const there = fieldsAt(at)
    expect(
      fields.filter((name) => !there.includes(name)),
      'listed and missing',
    ).toEqual([])
    expect(
      there.filter((name) => !fields.includes(name) && !besides.includes(name)),
      'there and not listed',
    ).toEqual([])
  })
})

function fieldsAt(at: string): string[] {
  const [method, path, where, ...way] = at.split(' ') as [string, string, string, ...string[]]
  const found = Object.keys(paths).find((one) => shape(one) === shape(path))
  const operation = paths[found ?? '']?.[method.toLowerCase()]
  expect(operation, `no ${method} ${path}`).toBeDefined()
  if (where === 'query')
    return operation.parameters
      .filter((one: Json) => one.in === 'query' && !one.deprecated && !one.schema.deprecated)
      .map((one: Json) => one.name)
  const status = Object.keys(operation.responses).find(
    (one) => one === where || (where === '2XX' && /^2/.test(one)),
  )
  const content =
    where === 'body' ? operation.requestBody?.content : operation.responses[status ?? '']?.content
  let schema = content?.['application/json']?.schema
  for (const step of way)
    schema = flatten(schema)?.[step === '[]' ? 'items' : 'properties']?.[step] ?? flatten(schema)?.items
  const { properties } = flatten(schema) ?? {}
  expect(properties, `nothing at ${at}`).toBeDefined()
  return Object.keys(properties).filter((name) => !properties[name].deprecated)
}

const shape = (path: string) => path.replace(/\{[^}]*\}/g, '{}')

/** The part of a union that has fields: the rest is null. */
function flatten(schema: Json): Json {
  return schema?.anyOf ? schema.anyOf.map(flatten).find((one: Json) => one.properties || one.items) : schema
}
