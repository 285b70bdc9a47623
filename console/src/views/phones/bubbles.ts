import type { AppCard, Message, PhoneMessage, Service, SharedLocation } from '../../api/types'
import { isFailed } from '../../ui/badge'
import type { NameOf } from './names'

/** A message as a screen draws it, on a phone or in the app. */
export interface Bubble {
  id: string
  mine: boolean
  /** Shown above the bubble in a group. */
  sender: string | null
  text: string
  media: string[]
  card: AppCard | null
  location: SharedLocation | null
  isLocationRequest: boolean
  service: Service
  effect: string
  at: number
  replyTo: { sender: string; text: string } | null
  reactions: { reaction: string; mine: boolean; by: string }[]
  /** The message's handle in the account, if it has one. */
  handle: string | null
  /** `unknown`: a phone gets no receipts for the SMS that it sends. */
  state: 'sending' | 'sent' | 'delivered' | 'read' | 'failed' | 'received' | 'unknown'
  readAt: number | null
  /** Sent as SMS instead of iMessage. */
  isDowngraded: boolean
  error: string | null
}

const summaryOf = (text: string, media: readonly string[]) => text || (media.length > 0 ? 'Photo' : 'Message')

/** The bubbles of one conversation on a phone. */
export function phoneBubbles(
  messages: readonly PhoneMessage[],
  phone: { number: string; imessage: boolean },
  nameOf: NameOf,
): Bubble[] {
  const byId = new Map(messages.map((message) => [message.id, message]))
  const replaced = new Set(messages.map((message) => message.replaces))
  const senderOf = ({ direction, from }: PhoneMessage) => (direction === 'out' ? 'You' : nameOf(from))
  return messages
    .filter((message) => message.tapback_on === null && !replaced.has(message.id))
    .map((message) => {
      const mine = message.direction === 'out'
      const original = byId.get(message.reply_to ?? '')
      return {
        id: message.id,
        mine,
        sender: message.group && !mine ? nameOf(message.from) : null,
        text: message.content,
        media: message.media_urls,
        card: message.app_card ?? null,
        location: message.location ?? null,
        isLocationRequest: message.location_request ?? false,
        service: message.service as Service,
        effect: message.send_style,
        at: Date.parse(message.created_at),
        replyTo: original
          ? { sender: senderOf(original), text: summaryOf(original.content, original.media_urls) }
          : null,
        reactions: message.reactions.map(({ by, reaction }) => ({
          reaction,
          mine: by === phone.number,
          by: by === phone.number ? 'You' : nameOf(by),
        })),
        handle: message.message_handle,
        state: mine ? phoneState(message) : 'received',
        readAt: message.read_at === null ? null : Date.parse(message.read_at),
        isDowngraded: mine && phone.imessage && message.service === 'SMS',
        error: null,
      }
    })
}

function phoneState(message: PhoneMessage): Bubble['state'] {
  if (message.arrived_at === null) return 'sending'
  if (message.service === 'SMS') return 'unknown'
  return message.read_at === null ? 'delivered' : 'read'
}

/** The bubbles of one conversation in the app. */
export function lineBubbles(messages: readonly Message[], nameOf: NameOf): Bubble[] {
  const byHandle = new Map(messages.map((message) => [message.message_handle, message]))
  const senderOf = ({ is_outbound, from_number }: Message) => (is_outbound ? 'You' : nameOf(from_number))
  return messages.map((message) => {
    const mine = message.is_outbound
    const original = byHandle.get(message.reply_to?.message_handle ?? '')
    return {
      id: message.message_handle,
      mine,
      sender: message.group_id && !mine ? nameOf(message.from_number) : null,
      text: message.content,
      media: message.media_urls ?? (message.media_url ? [message.media_url] : []),
      card: message.app_card ?? null,
      location: message.location ?? null,
      isLocationRequest: false,
      service: message.service,
      effect: message.send_style,
      at: Date.parse(message.date_created),
      replyTo: original ? { sender: senderOf(original), text: summaryOf(original.content, []) } : null,
      reactions: [],
      handle: message.message_handle,
      state: mine ? lineState(message) : 'received',
      readAt: null,
      isDowngraded: mine && message.was_downgraded === true,
      error: isFailed(message.status) ? (message.error_message ?? 'The message was not sent') : null,
    }
  })
}

function lineState({ status }: Message): Bubble['state'] {
  if (isFailed(status)) return 'failed'
  if (status === 'DELIVERED') return 'delivered'
  return status === 'SENT' ? 'sent' : 'sending'
}
