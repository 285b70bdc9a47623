import { useEffect, useState } from 'react'
import { Link } from '../../../router'
import { Icon } from '../../../ui/icon'
import type { Bubble as Model } from '../model'
import { Card } from './card'
import { effectName, isScreenEffect, playOnce } from './effects'
import { Media } from './media'
import { BubbleMenu } from './menu'
import { AskForPlace, PlaceMap } from './place'
import { Tapback } from './tapback'

export interface BubbleActions {
  /** Without: this side cannot put tapbacks. */
  react?: (bubble: Model, reaction: string) => void
  reply?: (bubble: Model) => void
  sharePlace?: () => void
  play: (effect: string) => void
}

/** One message. `tail`: the last of several by the same person. */
export function Bubble({
  bubble,
  tail,
  fresh,
  actions,
}: {
  bubble: Model
  tail: boolean
  /** It came while somebody looked. */
  fresh: boolean
  actions: BubbleActions
}) {
  const [menu, setMenu] = useState(false)
  const [moving, setMoving] = useState(false)
  const { effect } = bubble
  const play = () => {
    if (isScreenEffect(effect)) return actions.play(effect)
    setMoving(false)
    requestAnimationFrame(() => setMoving(true))
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: an effect plays once, when its message comes
  useEffect(() => {
    if (effect && fresh && playOnce(bubble.id)) play()
  }, [])
  const classes = [
    'bubble-row',
    bubble.mine ? 'mine' : 'theirs',
    tail ? 'tail' : '',
    fresh ? 'fresh' : '',
    bubble.reactions.length > 0 ? 'reacted' : '',
  ]
  return (
    <li className={classes.filter(Boolean).join(' ')}>
      {bubble.replyTo && (
        <div className="quote">
          <Icon name="reply" />
          <span className="truncate">
            <b>{bubble.replyTo.sender}</b> {bubble.replyTo.text}
          </span>
        </div>
      )}
      <div className="bubble-line">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the button beside it does the same by keyboard */}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the button beside it does the same by keyboard */}
        <div
          className={`bubble ${bubble.mine ? bubble.service.toLowerCase() : 'grey'} ${moving ? `effect-${effect}` : ''}`}
          onClick={(event) => {
            if (!(event.target as HTMLElement).closest('a, button, video, audio')) setMenu(!menu)
          }}
        >
          <Content bubble={bubble} sharePlace={actions.sharePlace} />
          {bubble.reactions.length > 0 && (
            <span
              className="tapbacks"
              role="img"
              aria-label={bubble.reactions.map(({ by, reaction }) => `${by}: ${reaction}`).join(', ')}
            >
              {bubble.reactions.map(({ reaction, by }) => (
                <span key={by} className="tapback">
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
          aria-expanded={menu}
          onClick={() => setMenu(!menu)}
        >
          <Icon name="smile" />
        </button>
      </div>
      {menu && <BubbleMenu bubble={bubble} actions={actions} close={() => setMenu(false)} />}
      {effect && (
        <button type="button" className="effect-note" onClick={play}>
          <Icon name="replay" /> Sent with {effectName(effect)}
        </button>
      )}
      {bubble.state === 'failed' && (
        <div className="not-delivered" title={bubble.fault ?? undefined}>
          <Icon name="warning" />{' '}
          {bubble.handle ? <Link to={`/messages/${bubble.handle}`}>Not Delivered</Link> : 'Not Delivered'}
        </div>
      )}
    </li>
  )
}

function Content({ bubble, sharePlace }: { bubble: Model; sharePlace?: () => void }) {
  const [hidden, setHidden] = useState(bubble.effect === 'invisible')
  if (bubble.card) return <Card card={bubble.card} />
  return (
    <>
      {bubble.asksForPlace && <AskForPlace share={bubble.mine ? undefined : sharePlace} />}
      {bubble.place && <PlaceMap place={bubble.place} />}
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
          <span className="words">
            <Words text={bubble.text} />
          </span>
        ))}
    </>
  )
}

const LINK = /(https?:\/\/[^\s<>"]+)/

/** Text with its links; they open outside, with nothing about us. */
function Words({ text }: { text: string }) {
  let offset = 0
  return text.split(LINK).map((piece) => {
    const key = offset
    offset += piece.length
    return LINK.test(piece) ? (
      <a key={key} href={piece} target="_blank" rel="noreferrer noopener">
        {piece}
      </a>
    ) : (
      piece
    )
  })
}
