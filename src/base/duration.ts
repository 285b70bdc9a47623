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
