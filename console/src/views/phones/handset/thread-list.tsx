import { Icon } from '../../../ui/icon'
import { clockTime } from '../../../ui/time'
import { Avatar } from '../avatar'
import { prettyNumber } from '../names'
import type { Thread } from '../threads'
import { ScreenTitle } from './screen-parts'

interface Props {
  threads: readonly Thread[]
  lines: readonly string[]
  onOpen: (key: string) => void
  onNewGroup: () => void
}

/** The conversations of a phone, and the other lines. */
export function ThreadList({ threads, lines, onOpen, onNewGroup }: Props) {
  const others = lines.filter((line) => !threads.some((thread) => thread.key === line))
  return (
    <div className="column in-phone">
      <ScreenTitle
        title="Messages"
        action={
          <>
            <Icon name="users" /> New group
          </>
        }
        onAction={onNewGroup}
      />
      <ul className="threads">
        {threads.map((thread) => {
          const last = thread.messages.findLast((message) => message.tapback_on === null)
          return (
            <li key={thread.key}>
              <button type="button" onClick={() => onOpen(thread.key)}>
                <span className={`unread-dot ${thread.unread > 0 ? 'on' : ''}`} />
                <Avatar
                  handle={thread.key}
                  name={thread.group ? thread.title : ''}
                  isGroup={thread.group !== null}
                />
                <span className="grow">
                  <span className="row">
                    <b className="truncate grow">{thread.title}</b>
                    <span className="small">{clockTime(thread.last)}</span>
                  </span>
                  <span className="preview">{last ? last.content || 'Attachment' : 'No messages yet'}</span>
                </span>
                {thread.unread > 0 && <span className="visually-hidden">{thread.unread} unread</span>}
              </button>
            </li>
          )
        })}
        {others.map((line) => (
          <li key={line}>
            <button type="button" onClick={() => onOpen(line)}>
              <span className="unread-dot" />
              <Avatar handle={line} name="" />
              <span className="grow">
                <b>{prettyNumber(line)}</b>
                <span className="preview">Send a message to this line</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
