import type { Place } from '../../../api/types'
import { Icon } from '../../../ui/icon'

/** A place on a map that is only hinted at: a real one would have to come from elsewhere. */
export function PlaceMap({ place }: { place: Place }) {
  const turn = Math.round((place.latitude * 7 + place.longitude * 3) % 40)
  return (
    <div className="place">
      <svg viewBox="0 0 200 110" aria-hidden="true">
        <rect width="200" height="110" className="map-land" />
        <path d="M-10 80 C 40 60, 70 110, 210 88 L 210 120 L -10 120 Z" className="map-water" />
        <g transform={`rotate(${turn - 20} 100 55)`} className="map-roads">
          <path d="M-40 30 H 240" />
          <path d="M-40 66 H 240" />
          <path d="M52 -40 V 160" />
          <path d="M104 -40 V 160" />
          <path d="M156 -40 V 160" />
        </g>
        <circle cx="100" cy="55" r="16" className="map-halo" />
        <circle cx="100" cy="55" r="7" className="map-dot" />
      </svg>
      <div className="place-words">
        <b>Shared location</b>
        <span>
          {place.latitude.toFixed(4)}, {place.longitude.toFixed(4)}
        </span>
      </div>
    </div>
  )
}

/** A line asks where the person is. */
export function AskForPlace({ share }: { share?: () => void }) {
  return (
    <div className="ask-place">
      <Icon name="pin" />
      <span>{share ? 'Would like to see your location' : 'Asked for a location'}</span>
      {share && (
        <button type="button" onClick={share}>
          Share
        </button>
      )}
    </div>
  )
}
