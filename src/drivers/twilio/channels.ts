import type { Progress } from '../../core/lines/progress.js'
import type { Service } from '../../core/messages/message.js'
import { NOT_ON_RCS } from './codes.js'

/** Addresses on a channel other than SMS begin with its name. */
const RCS = 'rcs:'
const WHATSAPP = 'whatsapp:'

/** The settings that say which channels the line has. */
export interface Channels {
  channel?: 'sms' | 'whatsapp'
  rcs?: boolean
  rcs_sender?: string
  messaging_service_sid?: string
}

export function isWhatsApp({ channel }: Channels): boolean {
  return channel === 'whatsapp'
}

/**
 * How messages leave by RCS. A Messaging Service falls back to SMS itself, within one message; a message from a sender
 * fails, and Trunkline sends it again as SMS.
 */
export function rcsWay(settings: Channels) {
  const { rcs, rcs_sender: sender, messaging_service_sid: service } = settings
  if (isWhatsApp(settings)) return undefined
  if (rcs && service) return 'service'
  return sender ? 'sender' : undefined
}

export function servicesOf(settings: Channels): readonly Service[] {
  if (isWhatsApp(settings)) return ['WhatsApp']
  return rcsWay(settings) ? ['RCS', 'SMS'] : ['SMS']
}

/** Sender and recipient of a send, as form fields. */
export function endsOf(
  settings: Channels,
  { service, to }: { service: Service; to: string },
  number: string,
): Record<string, string> {
  const { messaging_service_sid: pool, rcs_sender: sender } = settings
  const way = service === 'RCS' ? rcsWay(settings) : undefined
  if (way === 'sender') return { To: RCS + to, From: `${RCS}${sender}` }
  if (way === 'service') return { To: to, MessagingServiceSid: pool!, FallbackFrom: number }
  const channel = isWhatsApp(settings) ? WHATSAPP : ''
  return { To: channel + to, From: channel + number, ...(pool ? { MessagingServiceSid: pool } : {}) }
}

/** Filters that find the sends to a person. Messages of a service may leave from any of its senders. */
export function sentFilters(
  settings: Channels,
  { service, to }: { service: Service; to: string },
  number: string,
): Record<string, string>[] {
  const { messaging_service_sid: pool, rcs_sender: sender } = settings
  const way = service === 'RCS' ? rcsWay(settings) : undefined
  if (way === 'sender') return [{ To: RCS + to, From: `${RCS}${sender}` }]
  if (way === 'service') return [{ To: to }, { To: RCS + to }]
  const channel = isWhatsApp(settings) ? WHATSAPP : ''
  return [{ To: channel + to, ...(pool ? {} : { From: channel + number }) }]
}

/** Addresses of the line in Twilio's list. */
export function addressesOf(settings: Channels, number: string): string[] {
  const { rcs_sender: sender } = settings
  if (isWhatsApp(settings)) return [WHATSAPP + number]
  return [number, ...(sender ? [RCS + sender] : [])]
}

/** Whether a message that came to the line's own URL is for the line: the settings may leave out the RCS sender. */
export function isOwnAddress(settings: Channels, number: string, address: string): boolean {
  if (addressesOf(settings, number).includes(address)) return true
  return address.startsWith(RCS) && settings.rcs_sender === undefined && rcsWay(settings) !== undefined
}

/** An address without the name of its channel. */
export function personIn(address: string): { number: string; service: Service } {
  if (address.startsWith(RCS)) return { number: address.slice(RCS.length), service: 'RCS' }
  if (address.startsWith(WHATSAPP)) return { number: address.slice(WHATSAPP.length), service: 'WhatsApp' }
  return { number: address, service: 'SMS' }
}

/** What the addresses of a message of ours tell about its channel. */
export function withChannel(settings: Channels, progress: Progress, ends: { from: string; to: string }) {
  const way = rcsWay(settings)
  const isRcs = ends.from.startsWith(RCS) || ends.to.startsWith(RCS)
  const { status, code } = progress
  if (way === 'sender' && isRcs && status === 'ERROR' && NOT_ON_RCS.has(Number(code)))
    return { ...progress, tryNextService: true }
  const isKnown = ends.from !== '' && (status === 'SENT' || status === 'DELIVERED')
  return way === 'service' && isKnown
    ? { ...progress, service: isRcs ? ('RCS' as const) : ('SMS' as const) }
    : progress
}
