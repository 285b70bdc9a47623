import { useLiveState } from '../api/live'
import { capitalize } from '../ui/badge'

/** The state of the event stream. */
export function LiveLight() {
  const state = useLiveState()
  return (
    <span className={`live ${state === 'live' ? 'on' : 'off'}`} role="status">
      <span className="live-light" />
      <span className="live-word">{capitalize(state)}</span>
    </span>
  )
}
