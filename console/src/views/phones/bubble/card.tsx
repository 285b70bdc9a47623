import type { AppCard } from '../../../api/types'
import { ownUrl } from './media'

/** An app's card: its picture, its captions, and whose it is. */
export function Card({ card }: { card: AppCard }) {
  const { layout = {} } = card
  const image = layout.imageUrl ? ownUrl(layout.imageUrl) : undefined
  const name = card.appName ?? card.extensionBundleId.split('.').at(-1) ?? 'App'
  return (
    <div className="app-card">
      <div className="app-card-image">
        {image ? <img src={image} alt="" /> : <span aria-hidden="true">{name.slice(0, 1)}</span>}
        {layout.imageTitle && (
          <div className="app-card-over">
            <b>{layout.imageTitle}</b>
            {layout.imageSubtitle && <span>{layout.imageSubtitle}</span>}
          </div>
        )}
      </div>
      <div className="app-card-captions">
        <div>
          <b>{layout.caption ?? card.fallbackText ?? 'App Card'}</b>
          {layout.subcaption && <span>{layout.subcaption}</span>}
        </div>
        <div className="right">
          {layout.trailingCaption && <b>{layout.trailingCaption}</b>}
          {layout.trailingSubcaption && <span>{layout.trailingSubcaption}</span>}
        </div>
      </div>
      <div className="app-card-app">{name}</div>
    </div>
  )
}
