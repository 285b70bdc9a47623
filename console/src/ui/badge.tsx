import type { ReactNode } from 'react'

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info' | 'accent'

export function Badge({
  tone = 'plain',
  dot = false,
  title,
  children,
}: {
  tone?: Tone
  dot?: boolean
  title?: string
  children: ReactNode
}) {
  return (
    <span className={`badge ${tone}`} title={title}>
      {dot && <span className="dot" />}
      {children}
    </span>
  )
}

const STATUS_TONES: Record<string, Tone> = {
  REGISTERED: 'info',
  PENDING: 'info',
  QUEUED: 'info',
  ACCEPTED: 'info',
  SENT: 'accent',
  DELIVERED: 'good',
  READ: 'good',
  RECEIVED: 'good',
  ERROR: 'bad',
  DECLINED: 'bad',
  FAILED: 'bad',
  CANCELLED: 'plain',
}

/** The status of a message, in the words of the interface. */
export function StatusBadge({ status }: { status: string }) {
  const word = status.charAt(0) + status.slice(1).toLowerCase()
  return (
    <Badge tone={STATUS_TONES[status] ?? 'plain'} dot>
      {word}
    </Badge>
  )
}

export function ServiceBadge({ service }: { service: string }) {
  const tone: Tone = service === 'iMessage' ? 'info' : service === 'RCS' ? 'accent' : 'good'
  return <Badge tone={tone}>{service}</Badge>
}
