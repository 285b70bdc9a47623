import './conversations.css'
import { type FormEvent, useState } from 'react'
import { encode } from '../../api/client'
import { usePages } from '../../api/queries'
import type { Conversation, ConversationPage } from '../../api/types'
import { Link, navigate, useQueryParam } from '../../router'
import { Badge, isFailed, serviceTone } from '../../ui/badge'
import { Button } from '../../ui/button'
import { sendExample } from '../../ui/code'
import { SearchInput } from '../../ui/field'
import { Icon } from '../../ui/icon'
import { EmptyState, Loaded } from '../../ui/state'
import { More } from '../../ui/table'
import { Time } from '../../ui/time'
import { initialsOf, nameOf } from './names'
import { NewConversation } from './new-conversation'
import { Thread } from './thread'

export default function ConversationsView({ params }: { params: Record<string, string> }) {
  const [line] = useQueryParam('line')
  const [isStarting, setStarting] = useState(false)
  const list = usePages<Conversation, ConversationPage>(['conversations'], '/v3/conversations', { limit: 50 })
  const open = list.data?.find((one) => one.conversation === params.with && (!line || one.line === line))
  return (
    <div className={`conversations ${params.with ? 'has-open' : ''}`}>
      <section className="conversation-list" aria-label="Conversations">
        <Search onNew={() => setStarting(true)} />
        <Loaded query={list}>
          {(conversations) =>
            conversations.length === 0 && !list.hasMore ? (
              <EmptyState icon="messages" title="No conversations yet" code={sendExample()}>
                Send a message, or write one on the Phones page.
              </EmptyState>
            ) : (
              <ul>
                {conversations.map((one) => (
                  <li key={`${one.line} ${one.conversation}`}>
                    <Row conversation={one} isOpen={one === open} />
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
        <More pages={list} label="Show older" />
      </section>
      {params.with ? (
        <Thread
          key={`${line} ${params.with}`}
          other={params.with}
          line={line || open?.line}
          conversation={open}
        />
      ) : (
        <div className="center no-thread">
          <EmptyState icon="messages" title="Choose a conversation">
            You can read its messages and reply here.
          </EmptyState>
        </div>
      )}
      {isStarting && <NewConversation onClose={() => setStarting(false)} />}
    </div>
  )
}

function Search({ onNew }: { onNew: () => void }) {
  const [text, setText] = useState('')
  const search = (event: FormEvent) => {
    event.preventDefault()
    navigate(`/messages?q=${encode(text.trim())}`)
  }
  return (
    <form className="row conversation-search" role="search" onSubmit={search}>
      <SearchInput
        type="search"
        aria-label="Search messages"
        placeholder="Search: is:failed to:+1202"
        value={text}
        onChange={setText}
      />
      <Button icon="plus" aria-label="New message" onClick={onNew} />
    </form>
  )
}

function Row({ conversation, isOpen }: { conversation: Conversation; isOpen: boolean }) {
  const { last_message: last, line } = conversation
  return (
    <Link
      className="conversation-row"
      aria-current={isOpen ? 'true' : undefined}
      to={`/conversations/${encode(conversation.conversation)}?line=${encode(line)}`}
    >
      <span className={`center conversation-avatar ${serviceTone(last.service)}`} aria-hidden="true">
        {conversation.group_id ? <Icon name="users" /> : initialsOf(conversation)}
      </span>
      <span className="column grow">
        <span className="row">
          <span className="conversation-name truncate grow">{nameOf(conversation)}</span>
          <span className="faint small">
            <Time at={conversation.last_activity_at} />
          </span>
        </span>
        <span className="row">
          <span className={`truncate grow small ${conversation.awaits_reply ? 'awaits' : 'muted'}`}>
            {last.is_outbound && 'You: '}
            {last.preview || (last.has_media ? 'Media' : 'No text')}
          </span>
          {conversation.held_until && <Badge tone="warn">held</Badge>}
          {isFailed(last.status) && <Badge tone="bad">failed</Badge>}
        </span>
        <span className="faint small truncate">on {line}</span>
      </span>
    </Link>
  )
}
