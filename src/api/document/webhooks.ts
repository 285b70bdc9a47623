import { SECRET_HEADER } from '../../core/webhooks/headers.js'
import { WEBHOOK_TYPES, WEBHOOKS } from '../../core/webhooks/types.js'
import { MessagePayload, PAYLOADS } from '../webhooks/payload-wire.js'
import type { Json } from './components.js'

/** Bodies of webhooks by their type. */
export function webhookItems(): Record<string, Json> {
  const items = WEBHOOK_TYPES.map((type) => [type, post(type, WEBHOOKS[type], PAYLOADS[type])])
  const callback = post(
    'status_callback',
    { label: 'A message with a status_callback has a new status', keptWhenGone: true },
    MessagePayload,
  )
  return Object.fromEntries([...items, ['status_callback', callback]])
}

const header = (name: string, description: string, required: boolean) => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
})

const HEADERS = [
  header('webhook-id', 'Id of the event, equal in every attempt; x-webhook-id has the same value', true),
  header(
    'webhook-timestamp',
    'When it was posted, in Unix seconds; x-webhook-timestamp has the same value',
    true,
  ),
  header(
    'webhook-signature',
    'Signature by Standard Webhooks, if there is a secret; x-webhook-signature has the same value',
    false,
  ),
  header(SECRET_HEADER, 'The secret itself, unless legacy_secret_header is false', false),
  header('x-trunkline-event', 'Type of the event, as in the event stream', true),
  header('x-trunkline-sequence', 'Sequence number of the event in the account', true),
  header('x-trunkline-attempt', 'Number of the attempt, from 1', true),
]

interface About {
  label: string
  keptWhenGone?: boolean
}

function post(type: string, { label, keptWhenGone }: About, schema: Json): Json {
  return {
    post: {
      tags: ['Webhooks'],
      operationId: `on_${type}`.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      summary: label,
      // Trunkline signs its posts; it does not send the caller's keys.
      security: [],
      parameters: HEADERS,
      requestBody: { required: true, content: { 'application/json': { schema } } },
      responses: {
        '2XX': { description: 'Received' },
        ...(keptWhenGone ? {} : { 410: { description: 'Trunkline removes this webhook' } }),
        default: { description: 'Every other answer is a failure; retry_schedule says how it is retried' },
      },
    },
  }
}
