import type { AppCard } from '../../../api/types'
import { ownUrl } from './media'

/** An App Card with its image, captions and app name. */
export function Card({ card }: { card: AppCard }) {
  const { layout = {} } = card
  const image = layout.imageUrl ? ownUrl(layout.imageUrl) : undefined
  const name = card.appName ?? card.extensionBundleId.split('.').at(-1) ?? 'App'
  return (
    <div className="app-card">
      <div className="center app-card-image">
        {image ? <img src={image} alt="" /> : <span aria-hidden="true">{name.slice(0, 1)}</span>}
        {layout.imageTitle && (
          <div className="column app-card-over">
            <b>{layout.imageTitle}</b>
            {layout.imageSubtitle && <span>{layout.imageSubtitle}</span>}
          </div>
        )}
      </div>
      <div className="app-card-captions">
        <div className="column">
          <b>{layout.caption ?? card.fallbackText ?? 'App Card'}</b>
          {layout.subcaption && <span>{layout.subcaption}</span>}
        </div>
        <div className="column right">
          {layout.trailingCaption && <b>{layout.trailingCaption}</b>}
          {layout.trailingSubcaption && <span>{layout.trailingSubcaption}</span>}
        </div>
      </div>
      <div className="app-card-app">{name}</div>
    </div>
  )
}
