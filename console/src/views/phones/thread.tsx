import { Fragment, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { worldNow } from '../../api/clock'
import { capitalize } from '../../ui/badge'
import { clockTime } from '../../ui/time'
import { Bubble, type BubbleActions } from './bubble/bubble'
import { ScreenEffect } from './bubble/effects'
import type { Bubble as Model } from './bubbles'
import type { Notice } from './threads'

const GAP_MS = 15 * 60_000
const RUN_MS = 60_000
/** More than the height of an image. */
const LATE_PX = 400
const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short' })
const SERVICE_LABELS = {
  iMessage: 'iMessage',
  RCS: 'Text Message · RCS',
  WhatsApp: 'WhatsApp',
  SMS: 'Text Message · SMS',
}

type Item =
  | { bubble: Model; notice?: undefined; at: number }
  | { notice: Notice; bubble?: undefined; at: number }

interface Props {
  label: string
  bubbles: readonly Model[]
  notices?: readonly Notice[]
  /** The other side is typing. */
  isTyping?: boolean
  actions: Omit<BubbleActions, 'play'>
}

/** The messages of one conversation, newest at the bottom. */
export function Thread({ label, bubbles, notices = [], isTyping = false, actions }: Props) {
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
  const lastKey = `${items.length} ${bubbles.at(-1)?.id} ${bubbles.at(-1)?.state} ${isTyping}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls to the newest message
  useLayoutEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight
  }, [lastKey])
  // An image that loads late must not push the newest message out of view.
  const keepDown = () => {
    const shown = list.current
    if (shown && shown.scrollHeight - shown.scrollTop - shown.clientHeight < LATE_PX)
      shown.scrollTop = shown.scrollHeight
  }
  const lastOwnId = bubbles.findLast((bubble) => bubble.mine && bubble.state !== 'failed')?.id

  return (
    <div className="thread">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <ol className="column grow bubbles" ref={list} tabIndex={0} aria-label={label} onLoadCapture={keepDown}>
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
                  <b>{SERVICE_LABELS[bubble.service]}</b>
                  <br />
                  {timeText(bubble.at)}
                </li>
              )}
              {bubble.sender && !isSameRun(before, item) && <li className="sender">{bubble.sender}</li>}
              <Bubble
                bubble={bubble}
                tail={!isSameRun(item, after)}
                fresh={fresh.has(bubble.id)}
                actions={{ ...actions, play: setEffect }}
              />
              {(bubble.id === lastOwnId || bubble.isDowngraded) && (
                <StateLine bubble={bubble} isLast={bubble.id === lastOwnId} />
              )}
            </Fragment>
          )
        })}
        {isTyping && (
          <li className="column bubble-row theirs tail">
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

/** The delivery state below the last sent message. */
function StateLine({ bubble, isLast }: { bubble: Model; isLast: boolean }) {
  const words = [
    ...(bubble.isDowngraded ? ['Sent as Text Message'] : []),
    ...(isLast ? [stateText(bubble)] : []),
  ].filter(Boolean)
  if (words.length === 0) return null
  return <li className="state">{words.join(' · ')}</li>
}

function stateText({ state, readAt }: Model): string {
  if (state === 'sending') return 'Sending…'
  if (state === 'read' && readAt !== null) return `Read ${clockTime(readAt)}`
  return ['sent', 'delivered', 'read'].includes(state) ? capitalize(state) : ''
}

function isSameRun(a: Item | undefined, b: Item | undefined): boolean {
  if (!a?.bubble || !b?.bubble) return false
  return (
    a.bubble.mine === b.bubble.mine &&
    a.bubble.sender === b.bubble.sender &&
    b.at - a.at < RUN_MS &&
    !b.bubble.replyTo
  )
}

function timeText(at: number): string {
  const days = Math.floor(worldNow() / 86_400_000) - Math.floor(at / 86_400_000)
  const word = days <= 0 ? 'Today' : days === 1 ? 'Yesterday' : day.format(at)
  return `${word} ${clockTime(at)}`
}

/** The bubbles that arrived after the first render. */
function useFresh(bubbles: readonly Model[]): ReadonlySet<string> {
  const first = useRef<Set<string> | undefined>(undefined)
  first.current ??= new Set(bubbles.map(({ id }) => id))
  const seen = first.current
  return useMemo(() => new Set(bubbles.map(({ id }) => id).filter((id) => !seen.has(id))), [bubbles, seen])
}
