import { useEffect, useState } from 'react'
import { encode, openStream } from '../../api/client'
import { worldNow } from '../../api/clock'
import { type LiveEvent, readFrames, useLiveEvents, useLiveState } from '../../api/live'
import { Link, useQueryParam } from '../../router'
import { Badge, type Tone } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Card } from '../../ui/card'
import { curl, Json } from '../../ui/code'
import { SearchInput } from '../../ui/field'
import { EmptyState } from '../../ui/state'
import { exactTime } from '../../ui/time'

/** The page shows at most this many events, the newest ones. */
const LIMIT = 300
const HOUR_MS = 3_600_000
/** Time limit for reading the events of the last hour. */
const CATCH_UP_MS = 3000

export default function EventsView() {
  const [filter, setFilter] = useQueryParam('type')
  const [events, setEvents] = useState<readonly LiveEvent[]>([])
  const [isPaused, setPaused] = useState(false)
  const [waiting, setWaiting] = useState<readonly LiveEvent[]>([])
  const live = useLiveState()

  const add = (more: readonly LiveEvent[]) =>
    setEvents((before) => {
      const known = new Set(before.map((event) => event.seq))
      const fresh = more.filter((event) => !known.has(event.seq))
      return [...fresh, ...before].sort((a, b) => b.seq - a.seq).slice(0, LIMIT)
    })
  useLiveEvents((event) => {
    if (isPaused) setWaiting((before) => [...before, event])
    else add([event])
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the last hour is read once
  useEffect(() => {
    const stop = new AbortController()
    const timer = setTimeout(() => stop.abort(), CATCH_UP_MS)
    void readLastHour(stop.signal, add)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [])
  const resume = () => {
    add(waiting)
    setWaiting([])
    setPaused(false)
  }
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const shown = events.filter((event) =>
    words.every((word) => JSON.stringify(event).toLowerCase().includes(word)),
  )
  return (
    <div className="page stack">
      <div className="row wrap toolbar">
        <SearchInput
          icon="filter"
          aria-label="Filter"
          placeholder="message.updated, a number, a handle …"
          value={filter}
          onChange={setFilter}
        />
        <Button icon={isPaused ? 'forward' : 'stop'} onClick={() => (isPaused ? resume() : setPaused(true))}>
          {isPaused ? `Resume (${waiting.length} new)` : 'Pause'}
        </Button>
        <Button variant="ghost" onClick={() => setEvents([])}>
          Clear
        </Button>
      </div>
      <Card flush>
        {shown.length === 0 ? (
          <EmptyState
            icon="events"
            title={filter ? 'No matching events' : live === 'live' ? 'Waiting for events' : 'Not connected'}
            code={curl('GET', '/api/v2/events?types=all', undefined, { flags: '-N ' })}
          >
            Send a message, or type on a phone. To follow the event stream in a terminal, run:
          </EmptyState>
        ) : (
          <ul className="folds events" aria-label="Events, newest first">
            {shown.map((event) => (
              <EventEntry key={event.seq} event={event} />
            ))}
          </ul>
        )}
      </Card>
    </div>
  )
}

/** Renders its JSON only while it is open: there may be hundreds of entries. */
function EventEntry({ event }: { event: LiveEvent }) {
  const [isOpen, setOpen] = useState(false)
  const handle = event.type.startsWith('message.') ? event.data.message_handle : undefined
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span className="faint event-seq">{event.seq}</span>
          <Badge tone={toneOf(event)}>{event.type}</Badge>
          <span className="muted truncate grow">{summaryOf(event)}</span>
          <span className="faint small nowrap">{exactTime(event.occurred_at)}</span>
        </summary>
        {isOpen && (
          <div className="column fold-body">
            {typeof handle === 'string' && <Link to={`/messages/${encode(handle)}`}>Open message</Link>}
            <Json value={event} label={`Event ${event.seq}`} />
          </div>
        )}
      </details>
    </li>
  )
}

function summaryOf({ data }: LiveEvent): string {
  const texts = [data.status, data.number ?? data.sendblue_number ?? data.phone, data.content]
  return texts.filter((text) => typeof text === 'string' && text !== '').join(' · ')
}

function toneOf({ type, data }: LiveEvent): Tone {
  if (data.status === 'ERROR' || data.status === 'DECLINED' || type === 'line.blocked') return 'bad'
  if (data.status === 'DELIVERED' || type === 'message.received') return 'good'
  return type.startsWith('message.') ? 'info' : 'plain'
}

/** Reads the events of the hour before the page was opened, until `signal` aborts. */
async function readLastHour(signal: AbortSignal, add: (events: readonly LiveEvent[]) => void) {
  const opened = worldNow()
  const since = new Date(opened - HOUR_MS).toISOString()
  let read: LiveEvent[] = []
  const timer = setInterval(() => {
    if (read.length > 0) add(read.slice(-LIMIT))
    read = []
  }, 50)
  try {
    const response = await openStream(`/api/v2/events?types=all&since=${since}`, {}, signal)
    if (!response.ok || !response.body) return
    await readFrames(response.body, (frame) => {
      if (!frame.event || !frame.data || frame.event === 'recovery.gap') return
      const event = { ...JSON.parse(frame.data), seq: Number(frame.id) } as LiveEvent
      // Later events come from the live stream, which the user may have paused.
      if (Date.parse(event.occurred_at) <= opened) read.push(event)
    })
  } catch {
    // Aborted. If the connection was lost, the live stream shows that.
  } finally {
    clearInterval(timer)
    add(read.slice(-LIMIT))
  }
}
