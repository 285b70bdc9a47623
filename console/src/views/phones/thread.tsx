import { Fragment, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { worldNow } from '../../api/clock'
import { clockTime } from '../../ui/time'
import { Bubble, type BubbleActions } from './bubble/bubble'
import { ScreenEffect } from './bubble/effects'
import type { Bubble as Model, Notice } from './model'

const GAP_MS = 15 * 60_000
const SAME_MS = 60_000
/** More than the highest picture. */
const LATE_PX = 400
const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' })
const SERVICE_WORDS = { iMessage: 'iMessage', RCS: 'Text Message · RCS', SMS: 'Text Message · SMS' }

type Item =
  | { bubble: Model; notice?: undefined; at: number }
  | { notice: Notice; bubble?: undefined; at: number }

/** The messages of one conversation, newest at the bottom. */
export function Thread({
  label,
  bubbles,
  notices = [],
  typing = false,
  actions,
}: {
  label: string
  bubbles: readonly Model[]
  notices?: readonly Notice[]
  /** The other side types. */
  typing?: boolean
  actions: Omit<BubbleActions, 'play'>
}) {
  const [effect, setEffect] = useState('')
  const fresh = useFresh(bubbles)
  const list = useRef<HTMLOListElement>(null)
  const items = useMemo(
    () =>
      [
        ...bubbles.map((bubble): Item => ({ bubble, at: bubble.at })),
        ...notices.map((notice): Item => ({ notice, at: notice.at })),
      ].sort((a, b) => a.at - b.at),
    [bubbles, notices],
  )
  const lastKey = `${items.length} ${bubbles.at(-1)?.id} ${bubbles.at(-1)?.state} ${typing}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is new at the bottom is brought into view
  useLayoutEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight
  }, [lastKey])
  // A picture that comes late must not push the newest message out of sight.
  const keepDown = () => {
    const shown = list.current
    if (shown && shown.scrollHeight - shown.scrollTop - shown.clientHeight < LATE_PX)
      shown.scrollTop = shown.scrollHeight
  }
  const play = { ...actions, play: setEffect }
  const told = lastOwn(bubbles)

  return (
    <div className="thread">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
      <ol className="bubbles" ref={list} tabIndex={0} aria-label={label} onLoadCapture={keepDown}>
        {items.map((item, index) => {
          const before = items[index - 1]
          const after = items[index + 1]
          if (item.notice)
            return (
              <li key={item.notice.id} className="notice">
                {item.notice.text}
              </li>
            )
          const { bubble } = item
          const isNewService = before?.bubble?.service !== bubble.service
          return (
            <Fragment key={bubble.id}>
              {(isNewService || !before || item.at - before.at > GAP_MS) && (
                <li className="notice">
                  <b>{SERVICE_WORDS[bubble.service]}</b>
                  <br />
                  {momentOf(bubble.at)}
                </li>
              )}
              {bubble.sender && !sameRun(before, item) && <li className="sender">{bubble.sender}</li>}
              <Bubble
                bubble={bubble}
                tail={!sameRun(item, after)}
                fresh={fresh.has(bubble.id)}
                actions={play}
              />
              {(bubble.id === told || bubble.downgraded) && (
                <StateLine bubble={bubble} isLast={bubble.id === told} />
              )}
            </Fragment>
          )
        })}
        {typing && (
          <li className="bubble-row theirs tail">
            <div className="bubble grey dots" role="img" aria-label="Typing">
              <i />
              <i />
              <i />
            </div>
          </li>
        )}
      </ol>
      {effect && <ScreenEffect effect={effect} done={() => setEffect('')} />}
    </div>
  )
}

/** Under the last of one's own messages: how far it has come. */
function StateLine({ bubble, isLast }: { bubble: Model; isLast: boolean }) {
  const words = [
    ...(bubble.downgraded ? ['Sent as Text Message'] : []),
    ...(isLast ? [stateWords(bubble)] : []),
  ].filter(Boolean)
  if (words.length === 0) return null
  return <li className="state">{words.join(' · ')}</li>
}

function stateWords({ state, readAt }: Model): string {
  switch (state) {
    case 'sending':
      return 'Sending…'
    case 'sent':
      return 'Sent'
    case 'delivered':
      return 'Delivered'
    case 'read':
      return readAt === null ? 'Read' : `Read ${clockTime(readAt)}`
    default:
      return ''
  }
}

function lastOwn(bubbles: readonly Model[]): string | undefined {
  return bubbles.findLast((bubble) => bubble.mine && bubble.state !== 'failed')?.id
}

function sameRun(a: Item | undefined, b: Item | undefined): boolean {
  if (!a?.bubble || !b?.bubble) return false
  return (
    a.bubble.mine === b.bubble.mine &&
    a.bubble.sender === b.bubble.sender &&
    b.at - a.at < SAME_MS &&
    !b.bubble.replyTo
  )
}

function momentOf(at: number): string {
  const days = Math.floor(worldNow() / 86_400_000) - Math.floor(at / 86_400_000)
  const word = days <= 0 ? 'Today' : days === 1 ? 'Yesterday' : day.format(at)
  return `${word} ${clockTime(at)}`
}

/** The bubbles that were not there when the thread was first drawn. */
function useFresh(bubbles: readonly Model[]): ReadonlySet<string> {
  const first = useRef<Set<string> | undefined>(undefined)
  first.current ??= new Set(bubbles.map(({ id }) => id))
  const seen = first.current
  return useMemo(() => new Set(bubbles.map(({ id }) => id).filter((id) => !seen.has(id))), [bubbles, seen])
}
