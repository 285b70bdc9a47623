import { useEffect, useRef } from 'react'
import { Link } from '../../../router'
import { Icon } from '../../../ui/icon'
import type { Bubble } from '../bubbles'
import type { BubbleActions } from './bubble'
import { Tapback } from './tapback'

const TAPBACKS = ['love', 'like', 'dislike', 'laugh', 'emphasize', 'question', '🎉', '🙏', '👀', '🔥']

interface Props {
  bubble: Bubble
  actions: BubbleActions
  close: () => void
}

/** The actions for a bubble: tapbacks, a reply, and a link to the message's page. */
export function BubbleMenu({ bubble, actions, close }: Props) {
  const menu = useRef<HTMLDivElement>(null)
  useEffect(() => {
    menu.current?.querySelector<HTMLElement>('button, a')?.focus({ preventScroll: true })
    menu.current?.scrollIntoView({ block: 'nearest' })
    const closeOutside = (event: Event) => {
      const target = event.target as HTMLElement
      if (!menu.current?.contains(target) && !target.closest('.bubble-line')) close()
    }
    addEventListener('pointerdown', closeOutside)
    return () => removeEventListener('pointerdown', closeOutside)
  }, [close])
  const given = bubble.reactions.filter(({ mine }) => mine).map(({ reaction }) => reaction)
  const react = (reaction: string) => {
    close()
    actions.react?.(bubble, given.includes(reaction) ? `-${reaction}` : reaction)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc closes the menu from any element inside
    <div className="column bubble-menu" ref={menu} onKeyDown={(event) => event.key === 'Escape' && close()}>
      {actions.react && (
        <div className="tapback-bar" role="group" aria-label="Tapbacks">
          {TAPBACKS.map((reaction) => (
            <button
              key={reaction}
              type="button"
              className="center"
              aria-label={reaction}
              title={reaction}
              aria-pressed={given.includes(reaction)}
              onClick={() => react(reaction)}
            >
              <Tapback reaction={reaction} />
            </button>
          ))}
        </div>
      )}
      <div className="bubble-actions">
        {actions.reply && (
          <button
            type="button"
            className="row"
            onClick={() => {
              close()
              actions.reply?.(bubble)
            }}
          >
            <Icon name="reply" /> Reply
          </button>
        )}
        {bubble.handle && (
          <Link className="row" to={`/messages/${bubble.handle}`}>
            <Icon name="external" /> Open message
          </Link>
        )}
      </div>
    </div>
  )
}
