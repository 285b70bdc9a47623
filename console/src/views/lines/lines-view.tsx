import './lines.css'
import { useState } from 'react'
import { useIsAdmin } from '../../api/session'
import type { Line } from '../../api/types'
import { useLines } from '../../api/world'
import { Badge, ServiceBadge, type Tone } from '../../ui/badge'
import { Button } from '../../ui/button'
import { duration } from '../../ui/duration'
import { EmptyState, Failure } from '../../ui/empty-state'
import { SkeletonRows } from '../../ui/skeleton'
import { Time } from '../../ui/time'
import { AddLine } from './add-line'
import { Forwarding } from './forwarding'
import { Held } from './held'
import { LineSettings } from './line-settings'

const TONES: Record<Line['status'], Tone> = {
  ONLINE: 'good',
  DEGRADED: 'warn',
  OFFLINE: 'bad',
  UNKNOWN: 'plain',
}

export default function LinesView() {
  const { data, error, refetch } = useLines()
  const isAdmin = useIsAdmin()
  const [adding, setAdding] = useState(false)
  if (error) return <Failure error={error} retry={() => void refetch()} />
  if (!data) return <SkeletonRows />
  return (
    <div className="page stack">
      {isAdmin && (
        <div className="toolbar">
          <span className="grow" />
          <Button variant="primary" icon="plus" onClick={() => setAdding(true)}>
            Add a line
          </Button>
        </div>
      )}
      {data.data.length === 0 ? (
        <EmptyState icon="lines" title="This account has no lines">
          An administrator adds one: <code>trunkline line add</code>
        </EmptyState>
      ) : (
        <ul className="lines">
          {data.data.map((line) => (
            <li key={line.line_id}>
              <OneLine line={line} isAdmin={isAdmin} />
            </li>
          ))}
        </ul>
      )}
      {isAdmin && <Held />}
      {adding && <AddLine onClose={() => setAdding(false)} />}
    </div>
  )
}

function OneLine({ line, isAdmin }: { line: Line; isAdmin: boolean }) {
  const [open, setOpen] = useState<'settings' | 'forwarding'>()
  return (
    <article className="card line-card" aria-label={`Line ${line.number}`}>
      <header className="row wrap">
        <h2 className="line-number">{line.number}</h2>
        <Badge tone={TONES[line.status]} dot title={line.status_detail ?? undefined}>
          {line.blocked_at ? 'Blocked' : line.status.charAt(0) + line.status.slice(1).toLowerCase()}
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
      <dl className="line-numbers">
        <Figure
          name="Waiting"
          value={`${line.queue.waiting}${line.queue.is_more ? '+' : ''}`}
          note={
            line.queue.oldest_age_ms === null
              ? 'nothing in the queue'
              : `oldest for ${duration(line.queue.oldest_age_ms)}`
          }
          warn={(line.queue.oldest_age_ms ?? 0) > 60_000}
        />
        <div>
          <dt>Pace</dt>
          <dd>
            <span className="figure">{line.sent_last_second}</span>
            <span className="faint"> of {line.pace_per_second || '∞'} a second</span>
            {line.pace_per_second > 0 && (
              <span className="pace" aria-hidden="true">
                <span
                  style={{ width: `${Math.min(100, (100 * line.sent_last_second) / line.pace_per_second)}%` }}
                />
              </span>
            )}
          </dd>
        </div>
        <Figure name="Sent today" value={line.today.sent} note={`${line.today.failed} failed`} />
        <Figure name="Received today" value={line.today.received} note="since midnight UTC" />
      </dl>
      <div className="row wrap">
        {line.services.map((service) => (
          <ServiceBadge key={service} service={service} />
        ))}
        <span className="faint small grow">{line.features.join(' · ').replaceAll('_', ' ')}</span>
      </div>
      <footer className="row wrap">
        <span className="muted small grow">
          {line.kind === 'shared'
            ? 'Calls cannot be forwarded on a shared line'
            : line.forwarding_number
              ? `Calls go to ${line.forwarding_number}`
              : 'Calls are not forwarded'}
        </span>
        {line.kind === 'dedicated' && (
          <Button size="small" icon="calls" onClick={() => setOpen('forwarding')}>
            Call forwarding
          </Button>
        )}
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

function Figure({
  name,
  value,
  note,
  warn = false,
}: {
  name: string
  value: number | string
  note: string
  warn?: boolean
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span className={`figure ${warn ? 'warn' : ''}`}>{value}</span>
        <span className="faint small"> {note}</span>
      </dd>
    </div>
  )
}
