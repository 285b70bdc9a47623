import { type LiveState, useLiveState } from '../api/live'

const LABELS: Record<LiveState, string> = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
  off: 'Offline',
}

/** The state of the event stream. */
export function LiveLight() {
  const state = useLiveState()
  return (
    <span className={`live ${state === 'live' ? 'on' : 'off'}`} role="status">
      <span className="live-light" />
      <span className="live-word">{LABELS[state]}</span>
    </span>
  )
}
