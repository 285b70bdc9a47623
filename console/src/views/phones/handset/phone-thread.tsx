import { useMemo, useState } from 'react'
import type { Phone, Service } from '../../../api/types'
import { Icon } from '../../../ui/icon'
import { Avatar } from '../avatar'
import { type Bubble, phoneBubbles } from '../bubbles'
import { Composer } from '../composer'
import { type NameOf, prettyNumber } from '../names'
import { Thread } from '../thread'
import { noticesOf, type Thread as PhoneConversation } from '../threads'
import type { PhoneActions } from './actions'
import { GroupMenu } from './group-menu'

const PLACEHOLDERS = { iMessage: 'iMessage', RCS: 'RCS Message', SMS: 'Text Message' }

interface Props {
  phone: Phone
  /** Undefined before the first message with the line. */
  thread: PhoneConversation | undefined
  line: string
  isTyping: boolean
  nameOf: NameOf
  actions: PhoneActions
  onBack: () => void
}

/** One conversation on a phone. A click or the focus marks its messages as read. */
export function PhoneThread({ phone, thread, line, isTyping, nameOf, actions, onBack }: Props) {
  const [replyTo, setReplyTo] = useState<Bubble | null>(null)
  const bubbles = useMemo(() => phoneBubbles(thread?.messages ?? [], phone, nameOf), [thread, phone, nameOf])
  const group = thread?.group ?? null
  const notices = useMemo(() => (group ? noticesOf(group, phone.number, nameOf) : []), [group, phone, nameOf])
  const title = thread?.title ?? prettyNumber(line)
  const service: Service = group || phone.imessage ? 'iMessage' : phone.rcs ? 'RCS' : 'SMS'
  const read = () => {
    if (thread && thread.unread > 0) actions.read()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: reading is not an action of its own
    <div className="column in-phone" onPointerDown={read} onFocus={read}>
      <div className="thread-head">
        <button type="button" className="in-phone-button" aria-label="All messages" onClick={onBack}>
          <Icon name="back" />
        </button>
        <div className="column thread-who">
          <Avatar handle={group?.id ?? line} name={group ? title : ''} isGroup={group !== null} />
          <span className="truncate">{title}</span>
          {group && <span className="thread-people">{group.members.length} people</span>}
        </div>
        {group ? (
          <GroupMenu id={group.id} name={group.name ?? ''} actions={actions} />
        ) : (
          <button
            type="button"
            className="in-phone-button"
            aria-label={`Call ${title}`}
            title="Call"
            onClick={() => actions.call(line)}
          >
            <Icon name="calls" />
          </button>
        )}
      </div>
      <Thread
        label={`Messages with ${title}`}
        bubbles={bubbles}
        notices={notices}
        isTyping={isTyping}
        actions={{
          react: (bubble, reaction) => actions.react({ id: bubble.id, reaction }),
          reply: setReplyTo,
          shareLocation: () => actions.share({ line, isRequested: true }),
        }}
      />
      <Composer
        label={`Message ${title} as ${phone.name || phone.number}`}
        placeholder={PLACEHOLDERS[service]}
        service={service}
        replyTo={replyTo}
        setReplyTo={setReplyTo}
        onTyping={group || service !== 'iMessage' ? undefined : (on) => actions.type(line, on)}
        onSend={(draft) => actions.send({ to: { line, groupId: group?.id ?? null }, draft })}
      />
    </div>
  )
}
