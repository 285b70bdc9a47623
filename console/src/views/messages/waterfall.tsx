import type { Timeline } from '../../api/types'
import { statusTone, type Tone } from '../../ui/badge'
import { duration, exactTime } from '../../ui/time'
import { ATTEMPT_STATES } from './attempts'

interface Bar {
  key: string
  label: string
  from: number
  /** Equal to `from` for an event without a duration. */
  to: number
  tone: Tone
}

const EVENT_LABELS: Record<string, string> = {
  'message.created': 'Accepted',
  'message.received': 'Received',
  'message.read': 'Read',
  'message.reaction': 'Reaction',
}

/** The scale is logarithmic, to fit milliseconds and days. Below this many milliseconds it is nearly linear. */
const LINEAR_MS = 20
const MARKS = [100, 1000, 10_000, 60_000, 600_000, 3_600_000, 86_400_000, 7 * 86_400_000]

/** The events, attempts and webhook deliveries of a message on one time scale. */
export function Waterfall({ timeline }: { timeline: Timeline }) {
  const bars = barsOf(timeline)
  const start = Math.min(...bars.map((bar) => bar.from))
  const end = Math.max(...bars.map((bar) => bar.to), start + 1)
  const position = (at: number) =>
    (100 * Math.log1p((at - start) / LINEAR_MS)) / Math.log1p((end - start) / LINEAR_MS)
  const marks = MARKS.filter((ms) => ms < end - start)
  return (
    <ol className="waterfall">
      <li className="waterfall-head faint" aria-hidden="true">
        <span className="waterfall-track">
          {marks.map((ms) => (
            <span key={ms} className="waterfall-mark" style={{ left: `${position(start + ms)}%` }}>
              {duration(ms)}
            </span>
          ))}
        </span>
      </li>
      {bars.map((bar) => (
        <li key={bar.key} title={exactTime(bar.from)}>
          <span className="waterfall-label truncate">{bar.label}</span>
          <span className="waterfall-track" aria-hidden="true">
            {marks.map((ms) => (
              <span key={ms} className="waterfall-grid" style={{ left: `${position(start + ms)}%` }} />
            ))}
            <span
              className={`waterfall-bar ${bar.tone} ${bar.to === bar.from ? 'moment' : ''}`}
              style={{ left: `${position(bar.from)}%`, width: `${position(bar.to) - position(bar.from)}%` }}
            />
          </span>
          <span className="waterfall-time nowrap">
            +{duration(bar.from - start)}
            {bar.to > bar.from && <span className="faint"> · {duration(bar.to - bar.from)}</span>}
          </span>
        </li>
      ))}
    </ol>
  )
}

function barsOf({ message, attempts, events, webhook_deliveries: deliveries }: Timeline): Bar[] {
  const bars: Bar[] = events.map((event) => ({
    key: `event ${event.sequence}`,
    label: EVENT_LABELS[event.type] ?? `Status ${String(event.data.status ?? event.type)}`,
    from: Date.parse(event.occurred_at),
    to: Date.parse(event.occurred_at),
    tone: statusTone(String(event.data.status ?? '')),
  }))
  const accepted = Date.parse(message.date_created)
  if (bars.length === 0)
    bars.push({ key: 'begin', label: 'Accepted', from: accepted, to: accepted, tone: 'info' })
  const first = attempts[0] && Date.parse(attempts[0].started_at)
  if (first && first > accepted)
    bars.push({ key: 'queue', label: 'Waited in the queue', from: accepted, to: first, tone: 'plain' })
  for (const attempt of attempts) {
    const from = Date.parse(attempt.started_at)
    bars.push({
      key: `attempt ${attempt.attempt}`,
      label: `Attempt ${attempt.attempt} by ${attempt.service}`,
      from,
      to: attempt.ended_at ? Date.parse(attempt.ended_at) : from,
      tone: ATTEMPT_STATES[attempt.state][0],
    })
  }
  for (const delivery of deliveries)
    for (const attempt of delivery.attempt_log) {
      const from = Date.parse(attempt.at)
      const isGood = attempt.http_status !== null && attempt.http_status < 300
      bars.push({
        key: `delivery ${delivery.id} ${attempt.attempt}`,
        label: `Webhook ${delivery.type}: ${attempt.http_status ?? 'no response'}`,
        from,
        to: from + attempt.duration_ms,
        tone: isGood ? 'accent' : 'bad',
      })
    }
  return bars.sort((a, b) => a.from - b.from)
}
