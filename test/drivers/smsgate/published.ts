import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

/**
 * Facts of SMSGate's published OpenAPI documents (the app's for its local server, the server's for settings and
 * webhooks), and of the app's own classes where no document tells of the calls between app and server. Only what a line
 * relies on, as JSON Schema.
 */

const ajv = new Ajv2020({ allErrors: true })
formats.default(ajv)

export function faultsOf(schema: object, value: unknown): ErrorObject[] {
  const validate = ajv.compile(schema)
  validate(value)
  return validate.errors ?? []
}

const text = { type: 'string' } as const
const time = { type: 'string', format: 'date-time' } as const
const whole = { type: 'integer' } as const
const list = (items: object) => ({ type: 'array', items })
const record = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})

const STATE = {
  enum: ['Pending', 'Cancelling', 'Cancelled', 'Processed', 'Sent', 'Delivered', 'Failed'],
}
const RECIPIENT = record(
  { phoneNumber: { ...text, minLength: 1, maxLength: 128 }, state: STATE, error: text },
  ['phoneNumber', 'state'],
)
const EVENT = {
  enum: [
    'sms:received',
    'sms:data-received',
    'sms:sent',
    'sms:delivered',
    'sms:failed',
    'sms:cancelled',
    'system:ping',
    'mms:received',
    'mms:downloaded',
    'app:started',
  ],
}
const atLeastOne = { ...whole, minimum: 1 }

/** Answers of a phone with a local server. */
export const MESSAGE = record(
  {
    id: { ...text, maxLength: 36 },
    deviceId: { ...text, maxLength: 21 },
    state: STATE,
    recipients: { ...list(RECIPIENT), minItems: 1 },
    states: { type: 'object', propertyNames: STATE, additionalProperties: time },
    textMessage: record({ text }),
    isHashed: { type: 'boolean' },
    isEncrypted: { type: 'boolean' },
  },
  ['id', 'deviceId', 'state', 'recipients'],
)
export const WEBHOOK = record({ id: { ...text, maxLength: 36 }, url: text, event: EVENT })
export const HEALTH = record({
  status: { enum: ['pass', 'warn', 'fail'] },
  version: text,
  releaseId: whole,
  checks: { type: 'object' },
})
export const SETTINGS = record(
  {
    gateway: record({ notification_channel: { enum: ['AUTO', 'SSE_ONLY'] } }, []),
    messages: record(
      {
        processing_order: { enum: ['LIFO', 'FIFO'] },
        limit_period: { enum: ['Disabled', 'PerMinute', 'Per30Minutes', 'PerHour', 'PerDay'] },
        limit_value: atLeastOne,
        log_lifetime_days: atLeastOne,
      },
      [],
    ),
    webhooks: record(
      { internet_required: { type: 'boolean' }, retry_count: atLeastOne, signing_key: text },
      [],
    ),
  },
  [],
)
export const ERROR = record({ message: text })
export const INBOX = list(
  record(
    {
      id: text,
      type: { enum: ['SMS', 'DATA_SMS', 'MMS', 'MMS_DOWNLOADED'] },
      sender: text,
      contentPreview: text,
      createdAt: time,
      recipient: text,
      simNumber: whole,
      attachments: list(record({ partId: whole, name: text, size: whole, contentType: text })),
    },
    ['id', 'type', 'sender', 'contentPreview', 'createdAt'],
  ),
)

/** What a phone posts to a webhook. */
const PAYLOAD = { messageId: text, phoneNumber: text, sender: text, recipient: text, simNumber: whole }
const posted = (payload: object) =>
  record({ id: text, webhookId: text, deviceId: text, event: EVENT, payload })
export const POSTED = {
  'sms:received': posted(
    record({ ...PAYLOAD, message: text, receivedAt: time }, ['messageId', 'message', 'receivedAt']),
  ),
  'sms:sent': posted(record({ ...PAYLOAD, sentAt: time }, ['messageId', 'sentAt'])),
  'sms:delivered': posted(record({ ...PAYLOAD, deliveredAt: time }, ['messageId', 'deliveredAt'])),
  'sms:failed': posted(
    record({ ...PAYLOAD, failedAt: time, reason: text }, ['messageId', 'failedAt', 'reason']),
  ),
  'mms:downloaded': posted(
    record(
      {
        ...PAYLOAD,
        body: text,
        subject: text,
        receivedAt: time,
        attachments: list(
          record({ partId: whole, contentType: text, name: text, size: whole, data: text }, [
            'partId',
            'contentType',
          ]),
        ),
      },
      ['messageId', 'attachments', 'receivedAt'],
    ),
  ),
}

/** What a phone that dials in asks for, and what it reads in the answers. */
const SIM = record(
  { slotIndex: whole, simNumber: whole, phoneNumber: text, carrierName: text, iccid: text },
  ['slotIndex', 'simNumber'],
)
export const REGISTRATION = record({ name: text, pushToken: text, simCards: list(SIM) }, ['name', 'simCards'])
export const REGISTERED = record({
  id: text,
  token: text,
  login: text,
  password: { type: ['string', 'null'] },
})
export const PULLED = list(
  record(
    {
      id: text,
      textMessage: record({ text }),
      phoneNumbers: { ...list(text), minItems: 1, maxItems: 100 },
      simNumber: { ...whole, minimum: 1, maximum: 3 },
      withDeliveryReport: { type: 'boolean' },
    },
    ['id', 'textMessage', 'phoneNumbers'],
  ),
)
export const REPORTS = list(
  record({
    id: text,
    state: STATE,
    recipients: { ...list(RECIPIENT), minItems: 1 },
    states: { type: 'object', propertyNames: STATE, additionalProperties: time },
  }),
)
export const EXTERNAL_EVENT = {
  enum: [
    'MessageEnqueued',
    'MessageCancelled',
    'WebhooksUpdated',
    'MessagesExportRequested',
    'SettingsUpdated',
  ],
}
