import { type LiveState, useLiveState } from '../api/live'

const WORDS: Record<LiveState, string> = {
  connecting: 'Connecting',
  live: 'Live',
  reconnecting: 'Reconnecting',
  off: 'Not live',
}

/** Whether events come in as they happen. */
export function LiveLight() {
  const state = useLiveState()
  return (
    <span className={`live ${state === 'live' ? 'on' : 'off'}`} role="status">
      <span className="live-light" />
      <span className="live-word">{WORDS[state]}</span>
    </span>
  )
}
