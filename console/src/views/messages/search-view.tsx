import './messages.css'
import { useEffect, useState } from 'react'
import { encode } from '../../api/client'
import { usePages } from '../../api/queries'
import type { Message, SearchPage } from '../../api/types'
import { useQueryParam } from '../../router'
import { ServiceBadge, StatusBadge } from '../../ui/badge'
import { Card } from '../../ui/card'
import { sendExample } from '../../ui/code'
import { SearchInput } from '../../ui/field'
import { EmptyState } from '../../ui/state'
import { More, Table } from '../../ui/table'
import { exactTime, Time } from '../../ui/time'

const EXAMPLES = ['is:failed', 'is:inbound', 'is:scheduled', 'service:sms', 'has:media', 'after:1h']

export default function SearchView() {
  const [query, setQuery] = useQueryParam('q')
  const [typed, setTyped] = useState(query)
  // Links and the back button change the query, too.
  useEffect(() => setTyped((text) => (text.trim() === query ? text : query)), [query])
  useEffect(() => {
    const timer = setTimeout(() => setQuery(typed.trim()), 300)
    return () => clearTimeout(timer)
  }, [typed, setQuery])
  const results = usePages<Message, SearchPage>(['messages', 'search'], '/v3/search', { q: query })
  const words = typed.split(' ')
  const toggle = (word: string) =>
    setTyped(words.includes(word) ? words.filter((one) => one !== word).join(' ') : `${typed} ${word}`.trim())
  return (
    <div className="page stack">
      <form role="search" onSubmit={(event) => event.preventDefault()} className="stack">
        <SearchInput
          type="search"
          aria-label="Search messages"
          placeholder={'to:+1202 is:failed after:2h "your code"'}
          value={typed}
          onChange={setTyped}
        />
        <div className="search-examples">
          {EXAMPLES.map((word) => (
            <button key={word} type="button" aria-pressed={words.includes(word)} onClick={() => toggle(word)}>
              {word}
            </button>
          ))}
        </div>
      </form>
      {results.error ? (
        <p className="field-error" role="alert">
          {results.error.message.replace(/^q: /, '')}
        </p>
      ) : (
        <Card flush>
          <Table
            label="Messages"
            query={{ ...results, hasMore: false }}
            rowKey={(message) => message.message_handle}
            link={(message) => `/messages/${encode(message.message_handle)}`}
            columns={[
              {
                title: 'Text',
                cell: ({ content, media_url }) => (
                  <div className="truncate cell-text">{content || media_url || 'No text'}</div>
                ),
              },
              { title: 'From', cell: (message) => <span className="nowrap">{message.from_number}</span> },
              {
                title: 'To',
                cell: (message) => (
                  <span className="nowrap">{message.group_display_name || message.to_number}</span>
                ),
              },
              { title: 'Service', cell: (message) => <ServiceBadge service={message.service} /> },
              { title: 'Status', cell: (message) => <StatusBadge status={message.status} /> },
              { title: 'When', align: 'right', cell: (message) => <Time at={message.date_created} /> },
            ]}
            empty={
              query ? (
                <EmptyState icon="search" title="No messages found">
                  Filters: to: from: with: line: group: is: has: service: text: after: before: — prefix a
                  filter with - to exclude matches.
                </EmptyState>
              ) : (
                <EmptyState icon="messages" title="No messages yet" code={sendExample()}>
                  Send a message and it appears here.
                </EmptyState>
              )
            }
          />
          {results.data && results.lastPage?.searched_back_to && (
            <div className="row more">
              <span className="faint small">
                Searched back to {exactTime(results.lastPage.searched_back_to)}
              </span>
              <More pages={results} label="Search older messages" />
            </div>
          )}
        </Card>
      )}
    </div>
  )
}
