/** The simulated world on the wire, as far as it is drawn. */

export interface Phone {
  number: string
  name: string
  imessage: boolean
  rcs: boolean
  power: boolean
  read_receipts: boolean
  refuses: boolean
  email: string | null
  auto_reply: string | null
}

export interface Place {
  latitude: number
  longitude: number
  duration?: string
}

export interface AppCard {
  appName?: string
  extensionBundleId: string
  fallbackText?: string
  url: string
  layout?: {
    caption?: string
    subcaption?: string
    trailingCaption?: string
    trailingSubcaption?: string
    imageTitle?: string
    imageSubtitle?: string
    imageUrl?: string
  }
}

export interface PhoneMessage {
  id: string
  direction: 'in' | 'out'
  line: string
  from: string
  group: { id: string; name: string | null; members: string[] } | null
  content: string
  media_urls: string[]
  send_style: string
  service: Service
  reply_to: string | null
  app_card?: AppCard
  replaces: string | null
  reactions: { by: string; reaction: string; part_index: number; at: string }[]
  tapback_on: string | null
  message_handle: string | null
  location_request?: boolean
  location?: Place
  created_at: string
  arrived_at: string | null
  read_at: string | null
}

export type Service = 'iMessage' | 'RCS' | 'SMS'

export interface Inbox {
  data: PhoneMessage[]
  typing: string[]
}

export interface Chat {
  id: string
  group_id: string | null
  line: string
  name: string | null
  members: string[]
  history: { kind: string; by: string; value: string | null; at: string }[]
  created_at: string
}

export interface Call {
  id: string
  direction: 'in' | 'out'
  number: string
  line: string
  state: 'ringing' | 'answered' | 'ended' | 'turned_away'
  outcome: string | null
}

/** A message as the account has it. */
export interface MessageRecord {
  message_handle: string
  is_outbound: boolean
  number: string
  sendblue_number: string
  from_number: string
  group_id: string
  content: string
  media_url: string
  media_urls?: string[]
  send_style: string
  service: Service
  status: string
  was_downgraded: boolean | null
  error_message: string | null
  reply_to?: { message_handle: string }
  app_card?: AppCard
  location?: Place
  message_type: string
  date_created: string
  date_updated: string
}
