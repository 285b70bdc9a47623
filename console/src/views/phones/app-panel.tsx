import { useMemo, useState } from 'react'
import { useLineNumbers } from '../../api/lines'
import { useSession } from '../../api/session'
import type { Phone } from '../../api/types'
import { CodeBlock } from '../../ui/code'
import { SelectField } from '../../ui/field'
import { EmptyState } from '../../ui/state'
import {
  curlOf,
  type Recipient,
  sendBody,
  sendPath,
  useAppActions,
  useIsTyping,
  withPhoneState,
} from './app-data'
import { Avatar } from './avatar'
import { type Bubble, lineBubbles } from './bubbles'
import { Composer } from './composer'
import { useGroups, useInbox, useMessages } from './data'
import { groupName, type NameOf, prettyNumber } from './names'
import { Thread } from './thread'

/** Your app: it sends from one of the lines through the API. */
export function AppPanel({ phones, nameOf }: { phones: readonly Phone[]; nameOf: NameOf }) {
  const lines = useLineNumbers()
  const { data: allGroups = [] } = useGroups()
  const [chosenLine, setLine] = useState('')
  const [chosenTo, setTo] = useState('')
  const line = chosenLine || lines[0] || ''
  const key = chosenTo || phones[0]?.number || ''
  const groups = allGroups.filter((one) => one.group_id !== null && one.line === line)
  const group = groups.find((one) => one.group_id === key)
  return (
    <section className="column app-panel" aria-label="Your app">
      <header className="row handset-head">
        <div className="grow">
          <h2>Your app</h2>
          <span className="faint small">Sends through the API</span>
        </div>
      </header>
      <div className="column app-window">
        <div className="app-to">
          <SelectField
            label="From"
            value={line}
            options={lines.map((value) => ({ value, label: prettyNumber(value) }))}
            onChange={setLine}
          />
          <SelectField
            label="To"
            value={key}
            options={[
              ...phones.map(({ number }) => ({ value: number, label: nameOf(number) })),
              ...groups.map((one) => ({
                value: one.group_id ?? '',
                label: groupName(one, '', line, nameOf),
              })),
            ]}
            onChange={setTo}
          />
        </div>
        {line && key ? (
          <AppThread
            key={`${line} ${key}`}
            line={line}
            to={group ? { number: null, groupId: group.group_id } : { number: key, groupId: null }}
            title={group ? groupName(group, '', line, nameOf) : nameOf(key)}
            phone={phones.find(({ number }) => number === key)}
            nameOf={nameOf}
          />
        ) : (
          <EmptyState icon="lines" title="No line to send from" />
        )}
      </div>
    </section>
  )
}

interface ThreadProps {
  line: string
  to: Recipient
  title: string
  phone: Phone | undefined
  nameOf: NameOf
}

function AppThread({ line, to, title, phone, nameOf }: ThreadProps) {
  const { data: session } = useSession()
  const { data: messages } = useMessages(line, to.number, to.groupId)
  const { data: inbox } = useInbox(phone?.number ?? '')
  const actions = useAppActions(line, to)
  const isTyping = useIsTyping()
  const [replyTo, setReplyTo] = useState<Bubble | null>(null)
  const bubbles = useMemo(
    () => withPhoneState(lineBubbles(messages ?? [], nameOf), line, phone, inbox),
    [messages, nameOf, line, phone, inbox],
  )
  const service = messages?.at(-1)?.service ?? 'iMessage'
  const isIMessage = service === 'iMessage'
  const example = sendBody(line, to, { text: 'Hello from your app', effect: '', replyTo: null })
  return (
    <>
      <div className="thread-head app-head">
        <div className="column thread-who">
          <Avatar handle={to.groupId ?? to.number ?? ''} name={title} isGroup={to.groupId !== null} />
          <span className="truncate">{title}</span>
        </div>
      </div>
      {messages ? (
        <Thread
          label={`Messages between your app and ${title}`}
          bubbles={bubbles}
          isTyping={isTyping(to.number, line)}
          actions={{
            reply: setReplyTo,
            ...(isIMessage ? { react: (bubble, reaction) => actions.react({ bubble, reaction }) } : {}),
          }}
        />
      ) : (
        <div className="thread" />
      )}
      <Composer
        label={`Message ${title} as your app`}
        placeholder="Send as your app"
        service={service}
        replyTo={replyTo}
        setReplyTo={setReplyTo}
        onTyping={isIMessage && phone?.imessage && messages?.length ? actions.type : undefined}
        onSend={actions.send}
      />
      <details className="as-curl">
        <summary>Send with curl</summary>
        <CodeBlock label="Command" code={curlOf(session, sendPath(to), example)} />
      </details>
    </>
  )
}
