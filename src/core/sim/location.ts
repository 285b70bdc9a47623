/** The location of a virtual phone. */
export interface PhonePlace {
  latitude: number
  longitude: number
  accuracy: number | null
  altitude: number | null
  address: string | null
  locationType: LocationType
}

export const LOCATION_TYPES = ['shallow', 'live', 'legacy', 'unknown'] as const
export type LocationType = (typeof LOCATION_TYPES)[number]

/** A location that a phone shares with one line. */
export interface SharedPlace {
  lineId: string
  phone: string
  network: string
  /** Null while the phone does not know its location. */
  place: PhonePlace | null
  at: number
  /** Null until the phone stops sharing. */
  expiresAt: number | null
}

/** The intended duration of a share, in the words of its record. */
export function shareDuration(ms: number | null): string {
  if (ms === null) return 'indefinitely'
  const whole = (unit: number, name: string) => {
    const count = Math.round(ms / unit)
    return `${count} ${name}${count === 1 ? '' : 's'}`
  }
  if (ms >= 86_400_000 && ms % 86_400_000 === 0) return whole(86_400_000, 'day')
  if (ms >= 3_600_000 && ms % 3_600_000 === 0) return whole(3_600_000, 'hour')
  if (ms >= 60_000 && ms % 60_000 === 0) return whole(60_000, 'minute')
  return whole(1000, 'second')
}
