import { useMemo, useState } from 'react'
import { useSession } from '../../api/session'
import type { Phone } from '../../api/types'
import { CodeBlock } from '../../ui/code-block'
import { Icon } from '../../ui/icon'
import {
  curlOf,
  type Peer,
  sendBody,
  sendPath,
  useAppActs,
  useTypists,
  withoutTapbacks,
  withScreen,
} from './app-data'
import { Avatar } from './avatar'
import { Composer } from './composer'
import { useChats, useConversation, useInbox, useLines } from './data'
import { type Bubble, lineBubbles } from './model'
import { chatName, type Namer, prettyNumber } from './names'
import { Thread } from './thread'

/** The other end of every phone: the app that uses the API, on one of its lines. */
export function AppPanel({ phones, nameOf }: { phones: readonly Phone[]; nameOf: Namer }) {
  const { data: lines = [] } = useLines()
  const { data: chats = [] } = useChats()
  const [chosenLine, setLine] = useState('')
  const [chosenPeer, setPeer] = useState('')
  const line = chosenLine || lines[0] || ''
  const groups = chats.filter((chat) => chat.group_id !== null && chat.line === line)
  const peerKey = chosenPeer || phones[0]?.number || ''
  const group = groups.find((chat) => chat.group_id === peerKey)
  const peer: Peer = group
    ? { number: null, groupId: group.group_id }
    : { number: peerKey || null, groupId: null }
  const title = group ? chatName(group, '', line, nameOf) : nameOf(peerKey)
  return (
    <section className="app-panel" aria-label="Your app">
      <header className="handset-head">
        <div className="grow">
          <h2>Your app</h2>
          <span className="faint small">Sends through the API</span>
        </div>
      </header>
      <div className="app-window">
        <div className="app-to">
          <label>
            <span>From</span>
            <select aria-label="From" value={line} onChange={(event) => setLine(event.target.value)}>
              {lines.map((one) => (
                <option key={one} value={one}>
                  {prettyNumber(one)}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span>To</span>
            <select aria-label="To" value={peerKey} onChange={(event) => setPeer(event.target.value)}>
              {phones.map(({ number }) => (
                <option key={number} value={number}>
                  {nameOf(number)}
                </option>
              ))}
              {groups.map((chat) => (
                <option key={chat.id} value={chat.group_id ?? ''}>
                  {chatName(chat, '', line, nameOf)}
                </option>
              ))}
            </select>
          </label>
        </div>
        {line && peerKey ? (
          <Conversation
            key={`${line} ${peerKey}`}
            line={line}
            peer={peer}
            title={title}
            phone={phones.find(({ number }) => number === peerKey)}
            nameOf={nameOf}
          />
        ) : (
          <div className="empty">
            <Icon name="lines" />
            <p>There is no line to send from.</p>
          </div>
        )}
      </div>
    </section>
  )
}

function Conversation({
  line,
  peer,
  title,
  phone,
  nameOf,
}: {
  line: string
  peer: Peer
  title: string
  phone: Phone | undefined
  nameOf: Namer
}) {
  const { data: session } = useSession()
  const { data: records } = useConversation(line, peer.number, peer.groupId)
  const { data: inbox } = useInbox(phone?.number ?? '')
  const acts = useAppActs(line, peer)
  const isTyping = useTypists()
  const [replyTo, setReplyTo] = useState<Bubble | null>(null)
  const bubbles = useMemo(
    () => withoutTapbacks(withScreen(lineBubbles(records ?? [], nameOf), line, phone, inbox), inbox),
    [records, nameOf, line, phone, inbox],
  )
  const service = records?.at(-1)?.service ?? 'iMessage'
  const example = sendBody(line, peer, { text: 'Hello from your app', effect: '', replyTo: null })
  return (
    <>
      <div className="thread-head app-head">
        <div className="thread-who">
          <Avatar handle={peer.groupId ?? peer.number ?? ''} name={title} group={peer.groupId !== null} />
          <span className="truncate">{title}</span>
        </div>
      </div>
      {records && (
        <Thread
          label={`What your app and ${title} wrote`}
          bubbles={bubbles}
          typing={isTyping(peer.number, line)}
          actions={{
            reply: setReplyTo,
            ...(service === 'iMessage'
              ? { react: (bubble, reaction) => acts.react({ bubble, reaction }) }
              : {}),
          }}
        />
      )}
      {!records && <div className="thread" />}
      <Composer
        label={`Message ${title} as your app`}
        placeholder="Send as your app"
        service={service}
        replyTo={replyTo}
        onCancelReply={() => setReplyTo(null)}
        onTyping={service === 'iMessage' && phone?.imessage && records?.length ? acts.type : undefined}
        onSend={(draft) => {
          acts.send(draft)
          setReplyTo(null)
        }}
      />
      <details className="as-curl">
        <summary>The same with curl</summary>
        <CodeBlock label="Command" code={curlOf(session, sendPath(peer), example)} />
      </details>
    </>
  )
}
