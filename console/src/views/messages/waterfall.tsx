import type { Timeline } from '../../api/types'
import { duration } from '../../ui/duration'
import { exactTime } from '../../ui/time'

interface Bar {
  key: string
  label: string
  from: number
  /** The same as `from` for what happened in a moment. */
  to: number
  tone: 'plain' | 'good' | 'bad' | 'warn' | 'info' | 'accent'
}

const ATTEMPT_TONES = {
  on_wire: 'info',
  accepted: 'good',
  refused: 'bad',
  never_left: 'warn',
  unknown: 'warn',
  given_up: 'bad',
} as const

const POINTS: Record<string, string> = {
  'message.created': 'Accepted',
  'message.received': 'Received',
  'message.read': 'Read',
  'message.reaction': 'Reaction',
}

/** Milliseconds and days are on one scale: it is logarithmic, and this is where it begins to be. */
const UNIT = 20
const MARKS = [100, 1000, 10_000, 60_000, 600_000, 3_600_000, 86_400_000, 7 * 86_400_000]

/** Everything that took time or happened at a moment, on one scale. */
export function Waterfall({ timeline }: { timeline: Timeline }) {
  const bars = barsOf(timeline)
  const start = Math.min(...bars.map((bar) => bar.from))
  const end = Math.max(...bars.map((bar) => bar.to), start + 1)
  const place = (at: number) => (100 * Math.log1p((at - start) / UNIT)) / Math.log1p((end - start) / UNIT)
  const marks = MARKS.filter((ms) => ms < end - start)
  return (
    <ol className="waterfall">
      <li className="waterfall-head faint" aria-hidden="true">
        <span className="waterfall-track">
          {marks.map((ms) => (
            <span key={ms} className="waterfall-mark" style={{ left: `${place(start + ms)}%` }}>
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
              <span key={ms} className="waterfall-grid" style={{ left: `${place(start + ms)}%` }} />
            ))}
            <span
              className={`waterfall-bar ${bar.tone} ${bar.to === bar.from ? 'moment' : ''}`}
              style={{ left: `${place(bar.from)}%`, width: `${place(bar.to) - place(bar.from)}%` }}
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
    label: POINTS[event.type] ?? `Status ${String(event.data.status ?? event.type)}`,
    from: Date.parse(event.occurred_at),
    to: Date.parse(event.occurred_at),
    tone: toneOf(String(event.data.status ?? '')),
  }))
  const accepted = Date.parse(message.date_created)
  if (bars.length === 0)
    bars.push({ key: 'begin', label: 'Accepted', from: accepted, to: accepted, tone: 'info' })
  const first = attempts[0] && Date.parse(attempts[0].started_at)
  if (first && first > accepted)
    bars.push({ key: 'queue', label: 'Waited in the queue', from: accepted, to: first, tone: 'plain' })
  for (const one of attempts) {
    const from = Date.parse(one.started_at)
    bars.push({
      key: `attempt ${one.attempt}`,
      label: `Attempt ${one.attempt} by ${one.service}`,
      from,
      to: one.ended_at ? Date.parse(one.ended_at) : from,
      tone: ATTEMPT_TONES[one.state],
    })
  }
  for (const delivery of deliveries)
    for (const post of delivery.attempt_log) {
      const from = Date.parse(post.at)
      const isGood = post.http_status !== null && post.http_status < 300
      bars.push({
        key: `post ${delivery.id} ${post.attempt}`,
        label: `Webhook ${delivery.type}: ${post.http_status ?? 'no answer'}`,
        from,
        to: from + post.duration_ms,
        tone: isGood ? 'accent' : 'bad',
      })
    }
  return bars.sort((a, b) => a.from - b.from)
}

function toneOf(status: string): Bar['tone'] {
  if (status === 'ERROR' || status === 'DECLINED') return 'bad'
  return ['DELIVERED', 'SUCCESS', 'RECEIVED'].includes(status) ? 'good' : 'info'
}
