import { useEffect, useRef } from 'react'
import { encode } from '../../api/client'
import { usePages } from '../../api/queries'
import type { Conversation, Message } from '../../api/types'
import { Link } from '../../router'
import { Badge, isFailed } from '../../ui/badge'
import { LinkButton } from '../../ui/button'
import { Icon } from '../../ui/icon'
import { EmptyState, Loaded } from '../../ui/state'
import { More } from '../../ui/table'
import { clockTime, exactTime } from '../../ui/time'
import { Composer } from './composer'
import { nameOf } from './names'

interface Props {
  /** The other party's number, or the group's id. */
  other: string
  line: string | undefined
  conversation: Conversation | undefined
}

/** The messages between a line and a contact or group. */
export function Thread({ other, line, conversation }: Props) {
  const isGroup = conversation ? conversation.group_id !== '' : !/^\+|@/.test(other)
  const filter = isGroup ? `group:${other}` : `with:${other}`
  const thread = usePages<Message>(['messages', 'thread', other, line], '/v3/search', {
    q: line ? `${filter} line:${line}` : filter,
    limit: 50,
  })
  const data = thread.data?.filter((message) => isGroup || message.group_id === '').toReversed()
  const end = useRef<HTMLDivElement>(null)
  const newest = data?.at(-1)?.message_handle
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls only when there is a new message
  useEffect(() => {
    // Newer browsers return a promise, which React would take for a function that undoes the effect.
    end.current?.scrollIntoView({ block: 'end' })
  }, [newest])
  return (
    <section className="column conversation-thread" aria-label={`Conversation with ${other}`}>
      <header className="row conversation-head">
        <Link className="back conversation-back" to="/conversations" aria-label="All conversations">
          <Icon name="back" />
        </Link>
        <div className="grow">
          <h2 className="truncate">{conversation ? nameOf(conversation) : other}</h2>
          <p className="faint small truncate">
            {isGroup ? conversation?.participants.join(', ') : other} · on {line ?? 'any line'}
          </p>
        </div>
        {conversation?.held_until && (
          <Badge
            tone="warn"
            title={`Loop protection holds this conversation until ${exactTime(conversation.held_until)}`}
          >
            held until {clockTime(conversation.held_until)}
          </Badge>
        )}
        {!isGroup && (
          <LinkButton size="small" to={`/contacts?q=${encode(other)}`}>
            Contact
          </LinkButton>
        )}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <div className="conversation-scroll" tabIndex={0} role="log" aria-label="Messages">
        <Loaded query={{ ...thread, data }}>
          {(messages) => (
            <>
              <More pages={thread} label="Show older" />
              {messages.length === 0 && !thread.hasMore && (
                <EmptyState icon="messages" title="No messages yet">
                  Write the first message below.
                </EmptyState>
              )}
              <ol className="column conversation-messages">
                {messages.map((message, index) => (
                  <Bubble key={message.message_handle} message={message} before={messages[index - 1]} />
                ))}
              </ol>
              <div ref={end} />
            </>
          )}
        </Loaded>
      </div>
      {line && <Composer line={line} to={other} isGroup={isGroup} />}
    </section>
  )
}

const GAP_MS = 15 * 60_000

function Bubble({ message, before }: { message: Message; before: Message | undefined }) {
  const at = Date.parse(message.date_created)
  const hasTime = !before || at - Date.parse(before.date_created) > GAP_MS
  return (
    <li className={`column said ${message.is_outbound ? 'out' : 'in'}`}>
      {hasTime && (
        <time className="said-time faint" dateTime={message.date_created}>
          {exactTime(message.date_created)}
        </time>
      )}
      {!message.is_outbound && message.group_id !== '' && (
        <span className="faint small">{message.from_number}</span>
      )}
      <Link
        className={`said-bubble ${message.is_outbound ? message.service : ''}`}
        to={`/messages/${encode(message.message_handle)}`}
        title={exactTime(message.date_created)}
      >
        {message.media_url && <Media url={message.media_url} />}
        {message.content || (message.media_url ? '' : message.message_type)}
      </Link>
      <span className={`said-status ${isFailed(message.status) ? 'failed' : 'faint'}`}>
        {message.is_outbound && statusText(message)}
      </span>
    </li>
  )
}

/** Shows images of this server. Nothing is loaded from other servers. */
function Media({ url }: { url: string }) {
  const name = url.split('/').at(-1) ?? url
  if (url.startsWith(`${location.origin}/media/`) && /\.(png|jpe?g|gif|webp)$/i.test(name))
    return <img className="said-picture" src={url} alt="Attachment" loading="lazy" />
  return (
    <span className="row">
      <Icon name="clip" />
      {name}
    </span>
  )
}

function statusText({ status, service, error_message, send_at }: Message): string {
  if (isFailed(status)) return error_message ?? 'Not sent'
  if (status === 'REGISTERED' && send_at) return `Scheduled for ${exactTime(send_at)}`
  if (status === 'DELIVERED' || status === 'SUCCESS') return `Delivered · ${service}`
  if (status === 'SENT' || status === 'ACCEPTED') return `Sent · ${service}`
  return 'Sending…'
}
