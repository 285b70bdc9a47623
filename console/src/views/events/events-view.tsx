import './events.css'
import { useEffect, useRef, useState } from 'react'
import { openStream, part } from '../../api/client'
import { worldNow } from '../../api/clock'
import { type LiveEvent, readFrames, useLiveEvents, useLiveState } from '../../api/live'
import { Link, useQueryWord } from '../../router'
import { Badge, type Tone } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { EmptyState } from '../../ui/empty-state'
import { Input } from '../../ui/field'
import { Icon } from '../../ui/icon'
import { Json } from '../../ui/json'
import { exactTime } from '../../ui/time'

/** Events on the page: older ones fall off. */
const KEPT = 300
const HOUR = 3_600_000
/** How long it may take to read what happened before. */
const CATCH_UP_MS = 3000

export default function EventsView() {
  const [filter, setFilter] = useQueryWord('type')
  const [events, setEvents] = useState<readonly LiveEvent[]>([])
  const [paused, setPaused] = useState(false)
  const waiting = useRef<LiveEvent[]>([])
  const [waits, setWaits] = useState(0)
  const live = useLiveState()

  const take = (more: readonly LiveEvent[]) =>
    setEvents((before) => {
      const known = new Set(before.map((event) => event.seq))
      const fresh = more.filter((event) => !known.has(event.seq))
      return [...fresh, ...before].sort((a, b) => b.seq - a.seq).slice(0, KEPT)
    })
  useLiveEvents((event) => {
    if (!paused) return take([event])
    waiting.current.push(event)
    setWaits(waiting.current.length)
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the last hour is read once
  useEffect(() => {
    const stop = new AbortController()
    const timer = setTimeout(() => stop.abort(), CATCH_UP_MS)
    void readLastHour(stop.signal, take)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [])
  const resume = () => {
    take(waiting.current)
    waiting.current = []
    setWaits(0)
    setPaused(false)
  }
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const shown = events.filter((event) =>
    words.every((word) => JSON.stringify(event).toLowerCase().includes(word)),
  )
  return (
    <div className="page stack">
      <div className="toolbar">
        <div className="search">
          <Icon name="filter" />
          <Input
            data-search
            aria-label="Filter"
            placeholder="message.updated, a number, a handle …"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
          />
        </div>
        <Button icon={paused ? 'forward' : 'stop'} onClick={() => (paused ? resume() : setPaused(true))}>
          {paused ? `Resume (${waits} new)` : 'Pause'}
        </Button>
        <Button variant="ghost" onClick={() => setEvents([])}>
          Clear
        </Button>
      </div>
      <Card flush>
        {shown.length === 0 ? (
          <EmptyState
            icon="events"
            title={
              filter
                ? 'Nothing matches'
                : live === 'live'
                  ? 'Waiting for something to happen'
                  : 'Not connected'
            }
            code={`curl -N '${location.origin}/api/v2/events?types=all' \\\n  -H "sb-api-key-id: $SENDBLUE_API_API_KEY" \\\n  -H "sb-api-secret-key: $SENDBLUE_API_API_SECRET"`}
          >
            Send a message, or type on a phone. The same stream from a terminal:
          </EmptyState>
        ) : (
          <ul className="event-list" aria-label="Events, newest first">
            {shown.map((event) => (
              <OneEvent key={event.seq} event={event} />
            ))}
          </ul>
        )}
      </Card>
    </div>
  )
}

function OneEvent({ event }: { event: LiveEvent }) {
  const [open, setOpen] = useState(false)
  const handle = event.type.startsWith('message.') ? event.data.message_handle : undefined
  return (
    <li>
      <details onToggle={(toggle) => setOpen((toggle.target as HTMLDetailsElement).open)}>
        <summary>
          <span className="faint event-seq">{event.seq}</span>
          <Badge tone={toneOf(event)}>{event.type}</Badge>
          <span className="muted truncate grow">{aboutOf(event)}</span>
          <span className="faint small nowrap">{exactTime(event.occurred_at)}</span>
        </summary>
        {open && (
          <div className="event-body">
            {typeof handle === 'string' && <Link to={`/messages/${part(handle)}`}>Open the message</Link>}
            <Json value={event} label={`Event ${event.seq}`} />
          </div>
        )}
      </details>
    </li>
  )
}

function aboutOf({ data }: LiveEvent): string {
  const words = [data.status, data.number ?? data.sendblue_number ?? data.phone, data.content]
  return words.filter((word) => typeof word === 'string' && word !== '').join(' · ')
}

function toneOf({ type, data }: LiveEvent): Tone {
  if (data.status === 'ERROR' || data.status === 'DECLINED' || type === 'line.blocked') return 'bad'
  if (data.status === 'DELIVERED' || type === 'message.received') return 'good'
  return type.startsWith('message.') ? 'info' : 'plain'
}

/** What happened before the page was opened: a stream that begins an hour ago and is left when it is up to date. */
async function readLastHour(signal: AbortSignal, take: (events: readonly LiveEvent[]) => void) {
  const opened = worldNow()
  const since = new Date(opened - HOUR).toISOString()
  let read: LiveEvent[] = []
  const timer = setInterval(() => {
    if (read.length > 0) take(read.slice(-KEPT))
    read = []
  }, 50)
  try {
    const response = await openStream(`/api/v2/events?types=all&since=${since}`, {}, signal)
    if (!response.ok || !response.body) return
    await readFrames(response.body, (frame) => {
      if (!frame.event || !frame.data || frame.event === 'recovery.gap') return
      const event = { ...JSON.parse(frame.data), seq: Number(frame.id) } as LiveEvent
      // What came after that is told by the live stream, which can be paused.
      if (Date.parse(event.occurred_at) <= opened) read.push(event)
    })
  } catch {
    // It was left, or the live stream says that the server is away.
  } finally {
    clearInterval(timer)
    take(read.slice(-KEPT))
  }
}
