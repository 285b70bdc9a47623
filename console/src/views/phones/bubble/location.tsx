import type { SharedLocation } from '../../../api/types'
import { Icon } from '../../../ui/icon'

/** A location on a drawn map: a real map would have to be loaded from another server. */
export function LocationMap({ location: { latitude, longitude } }: { location: SharedLocation }) {
  const turn = Math.round((latitude * 7 + longitude * 3) % 40)
  return (
    <div className="column location">
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
      <div className="column location-text">
        <b>Shared location</b>
        <span>
          {latitude.toFixed(4)}, {longitude.toFixed(4)}
        </span>
      </div>
    </div>
  )
}

/** A line's request for the phone's location. */
export function LocationRequest({ share }: { share?: () => void }) {
  return (
    <div className="row location-request">
      <Icon name="pin" />
      <span>{share ? 'Requests your location' : 'Location requested'}</span>
      {share && (
        <button type="button" onClick={share}>
          Share
        </button>
      )}
    </div>
  )
}
