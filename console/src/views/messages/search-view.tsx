import './messages.css'
import { useEffect, useState } from 'react'
import { part } from '../../api/client'
import { usePages } from '../../api/pages'
import type { Found, Message } from '../../api/types'
import { curl } from '../../api/world'
import { useQueryWord } from '../../router'
import { ServiceBadge, StatusBadge } from '../../ui/badge'
import { Card } from '../../ui/card'
import { EmptyState } from '../../ui/empty-state'
import { Input } from '../../ui/field'
import { Icon } from '../../ui/icon'
import { More } from '../../ui/more'
import { Table } from '../../ui/table'
import { exactTime, Time } from '../../ui/time'

const EXAMPLES = ['is:failed', 'is:inbound', 'is:scheduled', 'service:sms', 'has:media', 'after:1h']

export default function SearchView() {
  const [query, setQuery] = useQueryWord('q')
  const [typed, setTyped] = useState(query)
  // The address changes by itself, too: by a link, or by going back.
  useEffect(() => setTyped((text) => (text.trim() === query ? text : query)), [query])
  useEffect(() => {
    const timer = setTimeout(() => setQuery(typed.trim()), 300)
    return () => clearTimeout(timer)
  }, [typed, setQuery])
  const found = usePages<Message, Found>(['messages', 'search'], '/v3/search', { q: query })
  const toggle = (word: string) =>
    setTyped((text) =>
      text.split(' ').includes(word)
        ? text
            .split(' ')
            .filter((one) => one !== word)
            .join(' ')
        : `${text} ${word}`.trim(),
    )
  return (
    <div className="page stack">
      <form role="search" onSubmit={(event) => event.preventDefault()} className="stack">
        <div className="search">
          <Icon name="search" />
          <Input
            data-search
            type="search"
            aria-label="Search messages"
            placeholder={'to:+1202 is:failed after:2h "your code"'}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </div>
        <div className="search-help">
          {EXAMPLES.map((word) => (
            <button
              key={word}
              type="button"
              aria-pressed={typed.split(' ').includes(word)}
              onClick={() => toggle(word)}
            >
              {word}
            </button>
          ))}
        </div>
      </form>
      {found.error ? (
        <p className="field-error" role="alert">
          {found.error.message.replace(/^q: /, '')}
        </p>
      ) : (
        <Card flush>
          <Table
            label="Messages"
            rows={found.rows}
            rowKey={(one) => one.message_handle}
            link={(one) => `/messages/${part(one.message_handle)}`}
            columns={[
              {
                title: 'Text',
                cell: (one) => (
                  <div className="truncate cell-text">{one.content || one.media_url || 'No text'}</div>
                ),
              },
              { title: 'From', cell: (one) => <span className="nowrap">{one.from_number}</span> },
              {
                title: 'To',
                cell: (one) => <span className="nowrap">{one.group_display_name || one.to_number}</span>,
              },
              { title: 'Service', cell: (one) => <ServiceBadge service={one.service} /> },
              { title: 'Status', cell: (one) => <StatusBadge status={one.status} /> },
              { title: 'When', align: 'right', cell: (one) => <Time at={one.date_created} /> },
            ]}
            empty={
              query ? (
                <EmptyState icon="search" title="Nothing found">
                  Filters are to: from: with: line: group: is: has: service: text: after: before: and a minus
                  turns one round.
                </EmptyState>
              ) : (
                <EmptyState
                  icon="messages"
                  title="No messages yet"
                  code={curl('POST', '/api/send-message', {
                    from_number: '+12025550100',
                    number: '+12025550101',
                    content: 'Hello',
                  })}
                >
                  Send one and it is here at once.
                </EmptyState>
              )
            }
          />
          {found.rows && found.lastPage?.searched_back_to && (
            <div className="more">
              <span className="faint small">
                Searched back to {exactTime(found.lastPage.searched_back_to)}
              </span>
              <More
                has={found.hasMore}
                loading={found.isLoadingMore}
                onMore={found.more}
                label="Search older"
              />
            </div>
          )}
        </Card>
      )}
    </div>
  )
}
