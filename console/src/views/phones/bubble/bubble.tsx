import { useEffect, useState } from 'react'
import { Link } from '../../../router'
import { Icon } from '../../../ui/icon'
import { WebLink } from '../../../ui/url'
import type { Bubble as Model } from '../bubbles'
import { Card } from './card'
import { effectName, isScreenEffect, playOnce } from './effects'
import { LocationMap, LocationRequest } from './location'
import { Media } from './media'
import { BubbleMenu } from './menu'
import { Tapback } from './tapback'

export interface BubbleActions {
  /** Undefined if this side cannot send tapbacks. */
  react?: (bubble: Model, reaction: string) => void
  reply?: (bubble: Model) => void
  shareLocation?: () => void
  play: (effect: string) => void
}

interface Props {
  bubble: Model
  /** The last of several messages by one sender. */
  tail: boolean
  /** Arrived while the thread was visible. */
  fresh: boolean
  actions: BubbleActions
}

/** One message. */
export function Bubble({ bubble, tail, fresh, actions }: Props) {
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isMoving, setMoving] = useState(false)
  const { effect } = bubble
  const play = () => {
    if (isScreenEffect(effect)) return actions.play(effect)
    setMoving(false)
    requestAnimationFrame(() => setMoving(true))
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: an effect plays once, when its message arrives
  useEffect(() => {
    if (effect && fresh && playOnce(bubble.id)) play()
  }, [])
  const classes = [
    'column bubble-row',
    bubble.mine ? 'mine' : 'theirs',
    tail && 'tail',
    fresh && 'fresh',
    bubble.reactions.length > 0 && 'reacted',
  ]
  return (
    <li className={classes.filter(Boolean).join(' ')}>
      {bubble.replyTo && (
        <div className="row quote">
          <Icon name="reply" />
          <span className="truncate">
            <b>{bubble.replyTo.sender}</b> {bubble.replyTo.text}
          </span>
        </div>
      )}
      <div className="bubble-line">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the button beside it does this by keyboard */}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the button beside it does this by keyboard */}
        <div
          className={`bubble ${bubble.mine ? bubble.service.toLowerCase() : 'grey'} ${isMoving ? `effect-${effect}` : ''}`}
          onClick={(event) => {
            if (!(event.target as HTMLElement).closest('a, button, video, audio')) setMenuOpen(!isMenuOpen)
          }}
        >
          <Content bubble={bubble} shareLocation={actions.shareLocation} />
          {bubble.reactions.length > 0 && (
            <span
              className="tapbacks"
              role="img"
              aria-label={bubble.reactions.map(({ by, reaction }) => `${by}: ${reaction}`).join(', ')}
            >
              {bubble.reactions.map(({ reaction, by }) => (
                <span key={by} className="center tapback">
                  <Tapback reaction={reaction} />
                </span>
              ))}
            </span>
          )}
        </div>
        <button
          type="button"
          className="bubble-more"
          aria-label={`Actions for ${bubble.text || 'this message'}`}
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          <Icon name="smile" />
        </button>
      </div>
      {isMenuOpen && <BubbleMenu bubble={bubble} actions={actions} close={() => setMenuOpen(false)} />}
      {effect && (
        <button type="button" className="row effect-note" onClick={play}>
          <Icon name="replay" /> Sent with {effectName(effect)}
        </button>
      )}
      {bubble.state === 'failed' && (
        <div className="row not-delivered" title={bubble.error ?? undefined}>
          <Icon name="warning" />{' '}
          {bubble.handle ? <Link to={`/messages/${bubble.handle}`}>Not Delivered</Link> : 'Not Delivered'}
        </div>
      )}
    </li>
  )
}

function Content({ bubble, shareLocation }: { bubble: Model; shareLocation?: () => void }) {
  const [hidden, setHidden] = useState(bubble.effect === 'invisible')
  if (bubble.card) return <Card card={bubble.card} />
  return (
    <>
      {bubble.isLocationRequest && <LocationRequest share={bubble.mine ? undefined : shareLocation} />}
      {bubble.location && <LocationMap location={bubble.location} />}
      {bubble.media.length > 0 && <Media urls={bubble.media} />}
      {bubble.text &&
        (hidden ? (
          <button
            type="button"
            className="ink"
            onClick={() => setHidden(false)}
            aria-label="Show invisible ink"
          >
            <span aria-hidden="true">{bubble.text}</span>
          </button>
        ) : (
          <span className="bubble-text">
            <LinkedText text={bubble.text} />
          </span>
        ))}
    </>
  )
}

const LINK = /(https?:\/\/[^\s<>"]+)/

/** Text with links. */
function LinkedText({ text }: { text: string }) {
  let offset = 0
  return text.split(LINK).map((piece) => {
    const key = offset
    offset += piece.length
    return LINK.test(piece) ? (
      <WebLink key={key} url={piece}>
        {piece}
      </WebLink>
    ) : (
      piece
    )
  })
}
