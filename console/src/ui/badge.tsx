import type { ReactNode } from 'react'

/** Each tone is a class in base.css that sets colour variables. */
export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info' | 'accent'

interface Props {
  tone?: Tone
  dot?: boolean
  title?: string
  children: ReactNode
}

export function Badge({ tone = 'plain', dot = false, title, children }: Props) {
  return (
    <span className={`badge ${tone}`} title={title}>
      {dot && <span className="dot" />}
      {children}
    </span>
  )
}

export const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const GOOD = ['DELIVERED', 'READ', 'RECEIVED', 'SUCCESS', 'ONLINE']
const BAD = ['ERROR', 'DECLINED', 'FAILED', 'OFFLINE']

/** The tone of a status of a message, line or delivery. */
export function statusTone(status: string): Tone {
  const word = status.toUpperCase()
  if (GOOD.includes(word)) return 'good'
  if (BAD.includes(word)) return 'bad'
  if (word === 'SENT') return 'accent'
  if (word === 'DEGRADED') return 'warn'
  return ['UNKNOWN', 'CANCELED', 'CANCELLED'].includes(word) ? 'plain' : 'info'
}

export const isFailed = (status: string) => statusTone(status) === 'bad'

/** The status of a message, line or delivery. `title` is shown on hover. */
export function StatusBadge({ status, title }: { status: string; title?: string }) {
  return (
    <Badge tone={statusTone(status)} dot title={title}>
      {capitalize(status.toLowerCase())}
    </Badge>
  )
}

export function ServiceBadge({ service }: { service: string }) {
  return <Badge tone={serviceTone(service)}>{service}</Badge>
}

export function serviceTone(service: string): Tone {
  return service === 'iMessage' ? 'info' : service === 'RCS' || service === 'WhatsApp' ? 'accent' : 'good'
}
