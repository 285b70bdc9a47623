import { Icon } from '../../ui/icon'
import { clockTime } from '../../ui/time'
import { Avatar } from './avatar'
import type { Thread } from './model'
import { prettyNumber } from './names'

/** The conversations of a phone, and the lines it could write to. */
export function ThreadList({
  threads,
  lines,
  open,
  makeGroup,
}: {
  threads: readonly Thread[]
  lines: readonly string[]
  open: (key: string) => void
  makeGroup: () => void
}) {
  const others = lines.filter((line) => !threads.some((thread) => thread.key === line))
  return (
    <div className="in-phone">
      <div className="phone-title">
        <h3>Messages</h3>
        <button type="button" className="in-phone-button" onClick={makeGroup}>
          <Icon name="users" /> New group
        </button>
      </div>
      <ul className="threads">
        {threads.map((thread) => {
          const last = thread.messages.findLast((message) => message.tapback_on === null)
          return (
            <li key={thread.key}>
              <button type="button" onClick={() => open(thread.key)}>
                <span className={`unread-dot ${thread.unread > 0 ? 'on' : ''}`} />
                <Avatar
                  handle={thread.key}
                  name={thread.group ? thread.title : ''}
                  group={thread.group !== null}
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
            <button type="button" onClick={() => open(line)}>
              <span className="unread-dot" />
              <Avatar handle={line} name="" />
              <span className="grow">
                <b>{prettyNumber(line)}</b>
                <span className="preview">Write to this line</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
