import { type ReactNode, useState } from 'react'
import type { Line } from '../../api/types'
import { Badge, capitalize, ServiceBadge, statusTone } from '../../ui/badge'
import { Button } from '../../ui/button'
import { duration, paceText, Time } from '../../ui/time'
import { Forwarding } from './forwarding'
import { LineSettings } from './line-settings'
import { PairButton } from './phones/pair-button'

interface Props {
  line: Line
  /** Name of the sender pool that the line is in. */
  pool: string | undefined
  isAdmin: boolean
  /** Makes a code for a phone of the line. */
  onPair: () => void
}

export function LineCard({ line, pool, isAdmin, onPair }: Props) {
  const [open, setOpen] = useState<'settings' | 'forwarding'>()
  const { queue, today, pace, sent_last_second: sent } = line
  return (
    <article className="card column line-card" aria-label={`Line ${line.number}`}>
      <header className="row wrap">
        <h2 className="line-number">{line.number}</h2>
        <Badge tone={statusTone(line.status)} dot title={line.status_detail ?? undefined}>
          {line.blocked_at ? 'Blocked' : capitalize(line.status.toLowerCase())}
        </Badge>
        <span className="faint small">
          {line.status_changed_at && (
            <>
              changed <Time at={line.status_changed_at} />
            </>
          )}
        </span>
        <span className="grow" />
        <Badge>{line.kind}</Badge>
        <Badge>{line.driver}</Badge>
      </header>
      {line.status_detail && <p className="muted small">{line.status_detail}</p>}
      <dl className="facts">
        <Figure
          name="Waiting"
          value={`${queue.waiting}${queue.is_more ? '+' : ''}`}
          isLate={(queue.oldest_age_ms ?? 0) > 60_000}
        >
          {queue.oldest_age_ms === null ? 'queue is empty' : `oldest for ${duration(queue.oldest_age_ms)}`}
          {queue.empty_in_ms !== null && `, all sent in ${duration(queue.empty_in_ms)} or later`}
        </Figure>
        <Figure name="Send rate" value={sent}>
          in the last second; {paceText(line)}
          {pace > 0 && line.pace_unit === 'second' && (
            <span className="pace" aria-hidden="true">
              <span style={{ width: `${Math.min(100, (100 * sent) / pace)}%` }} />
            </span>
          )}
        </Figure>
        <Figure name="Sent today" value={today.sent}>
          {today.failed} failed
        </Figure>
        <Figure name="Received today" value={today.received}>
          since midnight UTC
        </Figure>
      </dl>
      <div className="row wrap">
        {line.services.map((service) => (
          <ServiceBadge key={service} service={service} />
        ))}
        <span className="faint small grow">{line.features.join(' · ').replaceAll('_', ' ')}</span>
      </div>
      <footer className="row wrap">
        <span className="muted small grow">
          {pool && `In the pool ${pool} · `}
          {forwardingText(line)}
        </span>
        {line.kind === 'dedicated' && (
          <Button size="small" icon="calls" onClick={() => setOpen('forwarding')}>
            Call forwarding
          </Button>
        )}
        {isAdmin && line.driver === 'phone' && <PairButton lineId={line.line_id} onPair={onPair} />}
        {isAdmin && (
          <Button size="small" icon="settings" onClick={() => setOpen('settings')}>
            Settings
          </Button>
        )}
      </footer>
      {open === 'forwarding' && <Forwarding line={line} onClose={() => setOpen(undefined)} />}
      {open === 'settings' && <LineSettings id={line.line_id} onClose={() => setOpen(undefined)} />}
    </article>
  )
}

function forwardingText({ kind, forwarding_number: number }: Line): string {
  if (kind === 'shared') return 'Shared lines cannot forward calls'
  return number ? `Calls are forwarded to ${number}` : 'Calls are not forwarded'
}

interface FigureProps {
  name: string
  value: number | string
  isLate?: boolean
  children: ReactNode
}

function Figure({ name, value, isLate, children }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span className={`figure ${isLate ? 'warn' : ''}`}>{value}</span>
        <span className="faint small"> {children}</span>
      </dd>
    </div>
  )
}
