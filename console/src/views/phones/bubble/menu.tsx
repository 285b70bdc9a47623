import { useEffect, useRef } from 'react'
import { Link } from '../../../router'
import { Icon } from '../../../ui/icon'
import { type Bubble, TAPBACKS } from '../model'
import type { BubbleActions } from './bubble'
import { Tapback } from './tapback'

/** What can be done with a bubble: a tapback, a reply, its page. */
export function BubbleMenu({
  bubble,
  actions,
  close,
}: {
  bubble: Bubble
  actions: BubbleActions
  close: () => void
}) {
  const menu = useRef<HTMLDivElement>(null)
  useEffect(() => {
    menu.current?.querySelector<HTMLElement>('button, a')?.focus({ preventScroll: true })
    menu.current?.scrollIntoView({ block: 'nearest' })
    const outside = (event: Event) => {
      const target = event.target as HTMLElement
      if (!menu.current?.contains(target) && !target.closest('.bubble-line')) close()
    }
    addEventListener('pointerdown', outside)
    return () => removeEventListener('pointerdown', outside)
  }, [close])
  const given = bubble.reactions.filter(({ mine }) => mine).map(({ reaction }) => reaction)
  const react = (reaction: string) => {
    close()
    actions.react?.(bubble, given.includes(reaction) ? `-${reaction}` : reaction)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc closes it, wherever the focus is inside
    <div className="bubble-menu" ref={menu} onKeyDown={(event) => event.key === 'Escape' && close()}>
      {actions.react && (
        <div className="tapback-bar" role="group" aria-label="Tapbacks">
          {TAPBACKS.map((reaction) => (
            <button
              key={reaction}
              type="button"
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
      <div className="bubble-acts">
        {actions.reply && (
          <button
            type="button"
            onClick={() => {
              close()
              actions.reply?.(bubble)
            }}
          >
            <Icon name="reply" /> Reply
          </button>
        )}
        {bubble.handle && (
          <Link to={`/messages/${bubble.handle}`}>
            <Icon name="external" /> Open message
          </Link>
        )}
      </div>
    </div>
  )
}
