import { useEffect, useRef } from 'react'
import { part } from '../../api/client'
import { usePages } from '../../api/pages'
import type { Conversation, Message } from '../../api/types'
import { Link } from '../../router'
import { Badge } from '../../ui/badge'
import { LinkButton } from '../../ui/button'
import { EmptyState, Failure } from '../../ui/empty-state'
import { Icon } from '../../ui/icon'
import { More } from '../../ui/more'
import { SkeletonRows } from '../../ui/skeleton'
import { clockTime, exactTime } from '../../ui/time'
import { Composer } from './composer'
import { nameOf } from './conversations-view'

/** Everything said between a line and a person or a group. */
export function Thread({
  other,
  line,
  conversation,
}: {
  other: string
  line: string | undefined
  conversation: Conversation | undefined
}) {
  const isGroup = conversation ? conversation.group_id !== '' : !/^\+|@/.test(other)
  const by = isGroup ? `group:${other}` : `with:${other}`
  const thread = usePages<Message>(['messages', 'thread', other, line], '/v3/search', {
    q: line ? `${by} line:${line}` : by,
    limit: 50,
  })
  const messages = thread.rows?.filter((one) => isGroup || one.group_id === '').toReversed()
  const end = useRef<HTMLDivElement>(null)
  const newest = messages?.at(-1)?.message_handle
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is new is scrolled to
  useEffect(() => end.current?.scrollIntoView({ block: 'end' }), [newest])
  return (
    <section className="thread" aria-label={`Conversation with ${other}`}>
      <header className="thread-head">
        <Link className="back thread-back" to="/conversations" aria-label="All conversations">
          <Icon name="back" />
        </Link>
        <div className="grow">
          <h2 className="truncate">{conversation ? nameOf(conversation) : other}</h2>
          <p className="faint small truncate">
            {isGroup ? conversation?.participants.join(', ') : other} · by {line ?? 'any line'}
          </p>
        </div>
        {conversation?.held_until && (
          <Badge tone="warn" title={`It went round in circles. Until ${exactTime(conversation.held_until)}`}>
            held until {clockTime(conversation.held_until)}
          </Badge>
        )}
        {!isGroup && (
          <LinkButton size="small" to={`/contacts?q=${part(other)}`}>
            Contact
          </LinkButton>
        )}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
      <div className="thread-scroll" tabIndex={0} role="log" aria-label="Messages">
        {thread.error ? (
          <Failure error={thread.error} retry={thread.retry} />
        ) : !messages ? (
          <SkeletonRows />
        ) : (
          <>
            <More
              has={thread.hasMore}
              loading={thread.isLoadingMore}
              onMore={thread.more}
              label="Show older"
            />
            {messages.length === 0 && !thread.hasMore && (
              <EmptyState icon="messages" title="Nothing said yet">
                Write the first message below.
              </EmptyState>
            )}
            <ol className="bubbles">
              {messages.map((message, index) => (
                <Bubble key={message.message_handle} message={message} before={messages[index - 1]} />
              ))}
            </ol>
            <div ref={end} />
          </>
        )}
      </div>
      {line && <Composer line={line} to={other} isGroup={isGroup} />}
    </section>
  )
}

const GAP_MS = 15 * 60_000

function Bubble({ message, before }: { message: Message; before: Message | undefined }) {
  const at = Date.parse(message.date_created)
  const showsTime = !before || at - Date.parse(before.date_created) > GAP_MS
  const isFailed = message.status === 'ERROR' || message.status === 'DECLINED'
  return (
    <li className={`said ${message.is_outbound ? 'out' : 'in'}`}>
      {showsTime && (
        <time className="said-time faint" dateTime={message.date_created}>
          {exactTime(message.date_created)}
        </time>
      )}
      {!message.is_outbound && message.group_id !== '' && (
        <span className="faint small">{message.from_number}</span>
      )}
      <Link
        className={`said-bubble ${message.is_outbound ? message.service : ''}`}
        to={`/messages/${part(message.message_handle)}`}
        title={exactTime(message.date_created)}
      >
        {message.media_url && <Media url={message.media_url} />}
        {message.content || (message.media_url ? '' : message.message_type)}
      </Link>
      <span className={`said-status ${isFailed ? 'failed' : 'faint'}`}>
        {message.is_outbound && statusWords(message)}
      </span>
    </li>
  )
}

/** Pictures that this server keeps are shown; nothing is fetched from elsewhere. */
function Media({ url }: { url: string }) {
  const name = url.split('/').at(-1) ?? url
  if (url.startsWith(`${location.origin}/media/`) && /\.(png|jpe?g|gif|webp)$/i.test(name))
    return <img className="said-picture" src={url} alt="Attached" loading="lazy" />
  return (
    <span className="said-media">
      <Icon name="clip" />
      {name}
    </span>
  )
}

function statusWords({ status, service, error_message, send_at }: Message): string {
  if (status === 'ERROR' || status === 'DECLINED') return error_message ?? 'Not sent'
  if (status === 'REGISTERED' && send_at) return `To be sent ${exactTime(send_at)}`
  if (status === 'DELIVERED' || status === 'SUCCESS') return `Delivered · ${service}`
  if (status === 'SENT' || status === 'ACCEPTED') return `Sent · ${service}`
  return 'Sending…'
}
