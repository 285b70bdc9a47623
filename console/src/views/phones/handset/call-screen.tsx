import type { PhoneCall } from '../../../api/types'
import { Icon } from '../../../ui/icon'
import { Avatar } from '../avatar'

interface Props {
  call: PhoneCall
  caller: string
  onAction: (input: { id: string; action: string }) => void
}

/** Fills the screen of a phone during a call. */
export function CallScreen({ call, caller, onAction }: Props) {
  const isIncoming = call.state === 'ringing' && call.direction === 'in'
  const status = call.state === 'answered' ? 'Connected' : isIncoming ? 'Incoming call' : 'Calling…'
  const button = (action: string, label: string, color: string) => (
    <button
      type="button"
      className={`column call-button ${color}`}
      onClick={() => onAction({ id: call.id, action })}
    >
      <span className="center">
        <Icon name={color === 'red' ? 'hangup' : 'calls'} />
      </span>
      {label}
    </button>
  )
  return (
    <div className="column call-screen">
      <Avatar handle={call.number} name="" />
      <h3>{caller}</h3>
      <p role="status">{status}</p>
      <div className="call-buttons">
        {isIncoming ? (
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
