import { useMemo, useState } from 'react'
import type { Phone, Service } from '../../api/types'
import { Icon } from '../../ui/icon'
import type { usePhoneActs } from './acts'
import { Avatar } from './avatar'
import { Composer } from './composer'
import { type Bubble, type Thread as Conversation, chatNotices, phoneBubbles } from './model'
import { type Namer, prettyNumber } from './names'
import { Thread } from './thread'

const PLACEHOLDERS = { iMessage: 'iMessage', RCS: 'RCS Message', SMS: 'Text Message' }

/** One conversation on a phone. Looking at it (a click, the focus) reads it. */
export function PhoneThread({
  phone,
  thread,
  line,
  typing,
  nameOf,
  acts,
  back,
}: {
  phone: Phone
  /** Undefined while nothing was said on this line. */
  thread: Conversation | undefined
  line: string
  typing: boolean
  nameOf: Namer
  acts: ReturnType<typeof usePhoneActs>
  back: () => void
}) {
  const [replyTo, setReplyTo] = useState<Bubble | null>(null)
  const bubbles = useMemo(() => phoneBubbles(thread?.messages ?? [], phone, nameOf), [thread, phone, nameOf])
  const group = thread?.group ?? null
  const notices = useMemo(
    () => (group ? chatNotices(group, phone.number, nameOf) : []),
    [group, phone, nameOf],
  )
  const title = thread?.title ?? prettyNumber(line)
  const service: Service = group || phone.imessage ? 'iMessage' : phone.rcs ? 'RCS' : 'SMS'
  const read = () => {
    if (thread && thread.unread > 0) acts.read(null)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: looking is no action of its own
    <div className="in-phone" onPointerDown={read} onFocus={read}>
      <div className="thread-head">
        <button type="button" className="in-phone-button" aria-label="All messages" onClick={back}>
          <Icon name="back" />
        </button>
        <div className="thread-who">
          <Avatar handle={group?.id ?? line} name={group ? title : ''} group={group !== null} />
          <span className="truncate">{title}</span>
          {group && <span className="thread-people">{group.members.length} people</span>}
        </div>
        {group ? (
          <GroupActs name={group.name ?? ''} acts={acts} id={group.id} />
        ) : (
          <button
            type="button"
            className="in-phone-button"
            aria-label={`Call ${title}`}
            title="Call"
            onClick={() => acts.call(line)}
          >
            <Icon name="calls" />
          </button>
        )}
      </div>
      <Thread
        label={`Messages with ${title}`}
        bubbles={bubbles}
        notices={notices}
        typing={typing}
        actions={{
          react: (bubble, reaction) => acts.react({ id: bubble.id, reaction }),
          reply: setReplyTo,
          sharePlace: () => acts.share({ line, accept: true }),
        }}
      />
      <Composer
        label={`Message ${title} as ${phone.name || phone.number}`}
        placeholder={PLACEHOLDERS[service]}
        service={service}
        replyTo={replyTo}
        onCancelReply={() => setReplyTo(null)}
        onTyping={group || service !== 'iMessage' ? undefined : (on) => acts.typing(line, on)}
        onSend={(draft) => {
          acts.send({ thread: { line, groupId: group?.id ?? null }, draft })
          setReplyTo(null)
        }}
      />
    </div>
  )
}

function GroupActs({ id, name, acts }: { id: string; name: string; acts: ReturnType<typeof usePhoneActs> }) {
  const [open, setOpen] = useState(false)
  const [text, setText] = useState(name)
  return (
    <div className="popover-anchor">
      <button
        type="button"
        className="in-phone-button"
        aria-label="Group"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name="settings" />
      </button>
      {open && (
        <form
          className="popover stack group-form"
          onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}
          onSubmit={(event) => {
            event.preventDefault()
            acts.rename({ groupId: id, name: text.trim() })
            setOpen(false)
          }}
        >
          <input
            className="input"
            aria-label="Name of the group"
            placeholder="Name of the group"
            value={text}
            maxLength={100}
            onChange={(event) => setText(event.target.value)}
          />
          <button type="submit" className="button small">
            Rename
          </button>
          <button
            type="button"
            className="button small"
            onClick={() => {
              acts.leave(id)
              setOpen(false)
            }}
          >
            Leave the group
          </button>
        </form>
      )}
    </div>
  )
}
