import type { Event, EventType } from '../events/event.js'

interface WebhookTypeInfo {
  /** The events that are posted to webhooks of this type. An event belongs to one type at most. */
  events: readonly EventType[]
  /** When the event is posted, for the API reference and the console. */
  label: string
  /** Why a webhook of this type cannot be limited to some lines; undefined if it can. */
  noLines?: string
  /** Whether only the API removes a webhook of this type, not a receiver that answers 410. */
  keptWhenGone?: true
}

/** Every webhook type under its wire name. The console imports this file: it must not use Node. */
const TABLE = {
  receive: { events: ['message.received'], label: 'An inbound message arrived' },
  outbound: {
    events: ['message.created', 'message.updated'],
    label: 'An outbound message has a new status',
  },
  typing_indicator: { events: ['typing.changed'], label: 'A contact begins or stops typing' },
  call_log: { events: ['call.outbound'], label: 'An outbound call was placed' },
  inbound_call: { events: ['call.inbound'], label: 'An inbound call has ended' },
  line_blocked: { events: ['line.blocked'], label: 'A line was blocked' },
  line_assigned: { events: ['line.assigned'], label: 'A line was assigned' },
  contact_profile: {
    events: ['contact_profile.completed', 'contact_profile.failed'],
    label: 'A Name and Photo update was completed, or failed',
    keptWhenGone: true,
  },
  contact_created: {
    events: ['contact.created'],
    label: 'A contact was created',
    noLines: 'contacts are made on no line',
  },
  contact_consent: {
    events: ['contact.opted_out', 'contact.opted_in'],
    label: 'A person opted out with STOP, or in again with START',
  },
  alert: {
    events: ['line.offline', 'queue.age', 'webhook.failing', 'quota.near'],
    label: 'A line, a queue, a webhook or a quota needs attention, or no longer does',
  },
} as const satisfies Record<string, WebhookTypeInfo>

export type WebhookType = keyof typeof TABLE
export const WEBHOOKS: Readonly<Record<WebhookType, WebhookTypeInfo>> = TABLE
export const WEBHOOK_TYPES = Object.keys(TABLE) as readonly WebhookType[]

export function isWebhookType(name: unknown): name is WebhookType {
  return typeof name === 'string' && Object.hasOwn(TABLE, name)
}

/** An event that is posted; most types of the log are not. */
export type PostedEvent = Event<PostedEventType>
type PostedEventType = (typeof TABLE)[WebhookType]['events'][number]

const TYPE_OF = new Map<EventType, WebhookType>(
  WEBHOOK_TYPES.flatMap((type) => WEBHOOKS[type].events.map((event) => [event, type] as const)),
)

export function isPosted(event: Event): event is PostedEvent {
  return TYPE_OF.has(event.type)
}

/** The webhook type under which an event is posted; undefined when it is not posted. */
export function webhookTypeOf(event: PostedEventType): WebhookType
export function webhookTypeOf(event: EventType): WebhookType | undefined
export function webhookTypeOf(event: EventType): WebhookType | undefined {
  return TYPE_OF.get(event)
}
