import './conversations.css'
import { type FormEvent, useState } from 'react'
import { part } from '../../api/client'
import { usePages } from '../../api/pages'
import type { Conversation, Conversations } from '../../api/types'
import { curl } from '../../api/world'
import { Link, navigate, useQueryWord } from '../../router'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { EmptyState, Failure } from '../../ui/empty-state'
import { Input } from '../../ui/field'
import { Icon } from '../../ui/icon'
import { More } from '../../ui/more'
import { SkeletonRows } from '../../ui/skeleton'
import { Time } from '../../ui/time'
import { NewConversation } from './new-conversation'
import { Thread } from './thread'

export default function ConversationsView({ params }: { params: Record<string, string> }) {
  const [line] = useQueryWord('line')
  const [starting, setStarting] = useState(false)
  const list = usePages<Conversation, Conversations>(['conversations'], '/v3/conversations', { limit: 50 })
  const open = list.rows?.find((one) => one.conversation === params.with && (!line || one.line === line))
  return (
    <div className={`conversations ${params.with ? 'has-open' : ''}`}>
      <section className="conversation-list" aria-label="Conversations">
        <Search onNew={() => setStarting(true)} />
        {list.error ? (
          <Failure error={list.error} retry={list.retry} />
        ) : !list.rows ? (
          <SkeletonRows />
        ) : list.rows.length === 0 && !list.hasMore ? (
          <EmptyState
            icon="messages"
            title="No conversations yet"
            code={curl('POST', '/api/send-message', {
              from_number: '+12025550100',
              number: '+12025550101',
              content: 'Hello',
            })}
          >
            Write to somebody, or write as somebody on the wall of phones.
          </EmptyState>
        ) : (
          <ul>
            {list.rows.map((one) => (
              <li key={`${one.line} ${one.conversation}`}>
                <Row conversation={one} isOpen={one === open} />
              </li>
            ))}
          </ul>
        )}
        <More has={list.hasMore} loading={list.isLoadingMore} onMore={list.more} label="Show older" />
      </section>
      {params.with ? (
        <Thread
          key={`${line} ${params.with}`}
          other={params.with}
          line={line || open?.line}
          conversation={open}
        />
      ) : (
        <div className="no-thread">
          <EmptyState icon="messages" title="Choose a conversation">
            Everything said in it is shown here, and you can answer.
          </EmptyState>
        </div>
      )}
      {starting && <NewConversation onClose={() => setStarting(false)} />}
    </div>
  )
}

function Search({ onNew }: { onNew: () => void }) {
  const [text, setText] = useState('')
  const search = (event: FormEvent) => {
    event.preventDefault()
    navigate(`/messages?q=${part(text.trim())}`)
  }
  return (
    <form className="conversation-search" role="search" onSubmit={search}>
      <div className="search grow">
        <Icon name="search" />
        <Input
          data-search
          type="search"
          aria-label="Search messages"
          placeholder="Search: is:failed to:+1202"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <Button icon="plus" aria-label="New message" onClick={onNew} />
    </form>
  )
}

function Row({ conversation: one, isOpen }: { conversation: Conversation; isOpen: boolean }) {
  const { last_message: last } = one
  return (
    <Link
      className="conversation-row"
      aria-current={isOpen ? 'true' : undefined}
      to={`/conversations/${part(one.conversation)}?line=${part(one.line)}`}
    >
      <span className={`avatar ${last.service}`} aria-hidden="true">
        {one.group_id ? <Icon name="users" /> : initials(one)}
      </span>
      <span className="grow">
        <span className="row">
          <span className="conversation-name truncate grow">{nameOf(one)}</span>
          <span className="faint small">
            <Time at={one.last_activity_at} />
          </span>
        </span>
        <span className="row">
          <span className={`truncate grow small ${one.awaits_reply ? 'awaits' : 'muted'}`}>
            {last.is_outbound && 'You: '}
            {last.preview || (last.has_media ? 'Media' : 'No text')}
          </span>
          {one.held_until && <Badge tone="warn">held</Badge>}
          {(last.status === 'ERROR' || last.status === 'DECLINED') && <Badge tone="bad">failed</Badge>}
        </span>
        <span className="faint small truncate line-of">by {one.line}</span>
      </span>
    </Link>
  )
}

export function nameOf({ name, conversation, group_id, participants }: Conversation): string {
  return name ?? (group_id ? participants.join(', ') || 'Group' : conversation)
}

function initials({ name, conversation }: Conversation): string {
  if (!name) return conversation.slice(-2)
  return name
    .split(' ')
    .map((word) => word.charAt(0))
    .slice(0, 2)
    .join('')
}
