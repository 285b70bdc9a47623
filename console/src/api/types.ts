/** What the server answers, as far as the console looks at it. */

export interface Message {
  message_handle: string
  content: string
  from_number: string
  to_number: string
  number: string
  sendblue_number: string
  group_id: string
  group_display_name: string | null
  participants: string[]
  is_outbound: boolean
  status: string
  service: string
  message_type: string
  media_url: string
  media_urls?: string[]
  send_style: string
  was_downgraded: boolean | null
  status_callback?: string
  error_code: number | null
  error_message: string | null
  error_reason: string | null
  error_detail: string | null
  date_created: string
  date_sent: string
  date_updated: string
  send_at?: string
  reply_to?: { message_handle: string }
}

export interface Story {
  verdict: string
  summary: string
  next_step: string
  steps: { at: string; what: string; detail: string }[]
}

export interface Attempt {
  attempt: number
  service: string
  state: 'on_wire' | 'accepted' | 'refused' | 'never_left' | 'unknown' | 'given_up'
  started_at: string
  ended_at: string | null
  duration_ms: number | null
  code: string | null
  detail: string | null
  provider_id: string | null
  lookups: number
}

export interface Post {
  attempt: number
  at: string
  duration_ms: number
  http_status: number | null
  reason: string | null
  request_headers: Record<string, string>
  response_headers: Record<string, string> | null
  response_body: string | null
}

export interface Delivery {
  id: string
  webhook_id: string
  event_type: string
  type: string
  url: string
  subject: string
  status: 'pending' | 'delivered' | 'failed' | 'canceled'
  attempts: number
  http_status: number | null
  reason: string | null
  created_at: string
  next_attempt_at: string | null
  finished_at: string | null
}

export interface WholeDelivery extends Delivery {
  body: string
  attempt_log: Post[]
}

export interface LoggedEvent {
  sequence: number
  id: string
  type: string
  occurred_at: string
  data: Record<string, unknown>
}

export interface Timeline {
  message: Message
  why: Story
  events: LoggedEvent[]
  attempts: Attempt[]
  webhook_deliveries: WholeDelivery[]
}

export interface Line {
  line_id: string
  number: string
  kind: 'dedicated' | 'shared'
  driver: string
  status: 'ONLINE' | 'OFFLINE' | 'DEGRADED' | 'UNKNOWN'
  status_detail: string | null
  status_changed_at: string | null
  blocked_at: string | null
  services: string[]
  features: string[]
  pace_per_second: number
  sent_last_second: number
  queue: Queue
  today: { sent: number; failed: number; received: number }
  forwarding_number: string | null
}

export interface Queue {
  waiting: number
  is_more: boolean
  oldest_at: string | null
  oldest_age_ms: number | null
}

/** A page of a list that goes on from a cursor. */
export interface Page<T> {
  data: T[]
  next_cursor: string | null
}
