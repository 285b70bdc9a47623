const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?)?$/i

/** Epoch milliseconds of an ISO 8601 date, or date and time; undefined for anything else. A time without a zone is UTC. */
export function parseTime(text: string): number | undefined {
  return Number(text.slice(0, 4)) < 1970 ? undefined : read(text)
}

/**
 * Like `parseTime`, for the bound of a range. A time before 1970 becomes 1970: nothing stored is older, and some
 * programs write the year 1 to mean "no bound".
 */
export function parseBound(text: string): number | undefined {
  if (text.startsWith('0000')) return undefined
  const time = read(text)
  return time === undefined ? undefined : Math.max(time, 0)
}

function read(text: string): number | undefined {
  // An unescaped `+` of an offset arrives from a query string as a space.
  const match = ISO.exec(text.replace(/(:[\d:.]{1,20}) (\d{2}:?\d{2})$/, '$1+$2'))
  if (!match) return undefined
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '0', zone = 'Z'] = match
  // Date.UTC reads the year 1 as 1901.
  const midnight = new Date(0).setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  // Date.UTC turns February 30 into March 2. Such a date is invalid: formatting the result gives another text.
  if (new Date(midnight).toISOString().slice(0, 10) !== `${year}-${month}-${day}`) return undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  let offset = 0
  if (!/z/i.test(zone)) {
    const hours = Number(zone.slice(1, 3))
    const minutes = Number(zone.slice(-2))
    if (hours > 14 || minutes > 59) return undefined
    offset = (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes)
  }
  const millis = Number(fraction.padEnd(3, '0').slice(0, 3))
  return midnight + ((Number(hour) * 60 + Number(minute) - offset) * 60 + Number(second)) * 1000 + millis
}

let lastMillis = Number.NaN
let lastText = ''

/** ISO 8601 with milliseconds and Z. Caches the last result, because rows written together share a time. */
export function formatTime(millis: number): string {
  if (millis !== lastMillis) {
    lastText = new Date(millis).toISOString()
    lastMillis = millis
  }
  return lastText
}

/** A moment by two clocks: the steady clock may stand still while a machine sleeps, the wall clock may be set. */
export interface Moment {
  steady: number
  wall: number
}

export function currentMoment(): Moment {
  return { steady: performance.now(), wall: Date.now() }
}

/** Milliseconds since then, by the clock that saw more time pass. */
export function elapsedMs({ steady, wall }: Moment): number {
  return Math.max(performance.now() - steady, Date.now() - wall)
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const PART = /^\s*(\d{1,12}(?:\.\d{1,6})?)\s*(ms|s|m|h|d)(?![a-z])/
const MAX_CHARS = 60

/** Milliseconds of a time like `90s`, `2h` or `1d 12h`; a number without a unit is seconds. Undefined: not a time. */
export function durationMs(time: string): number | undefined {
  if (time.length > MAX_CHARS) return undefined
  if (/^\d{1,12}(?:\.\d{1,6})?$/.test(time)) return Math.round(Number(time) * 1000)
  let ms = 0
  let rest = time.trimEnd()
  do {
    const [part, amount, unit] = PART.exec(rest) ?? []
    if (part === undefined) return undefined
    ms += Number(amount) * UNITS[unit!]!
    rest = rest.slice(part.length)
  } while (rest !== '')
  return Math.round(ms)
}
