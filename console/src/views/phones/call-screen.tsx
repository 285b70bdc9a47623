import type { PhoneCall } from '../../api/types'
import { Icon } from '../../ui/icon'
import { Avatar } from './avatar'

/** A call fills the screen until it is over. */
export function CallScreen({
  call,
  who,
  act,
}: {
  call: PhoneCall
  who: string
  act: (input: { id: string; action: string }) => void
}) {
  const rings = call.state === 'ringing' && call.direction === 'in'
  const words = call.state === 'answered' ? 'Connected' : rings ? 'Incoming call' : 'Calling…'
  const button = (action: string, label: string, kind: string) => (
    <button type="button" className={`call-button ${kind}`} onClick={() => act({ id: call.id, action })}>
      <span>
        <Icon name={kind === 'red' ? 'hangup' : 'calls'} />
      </span>
      {label}
    </button>
  )
  return (
    <div className="call-screen">
      <Avatar handle={call.number} name="" />
      <h3>{who}</h3>
      <p role="status">{words}</p>
      <div className="call-buttons">
        {rings ? (
          <>
            {button('decline', 'Decline', 'red')}
            {button('voicemail', 'Voicemail', 'plain')}
            {button('answer', 'Answer', 'green')}
          </>
        ) : (
          button('hangup', 'Hang up', 'red')
        )}
      </div>
    </div>
  )
}
