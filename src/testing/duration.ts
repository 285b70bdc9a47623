const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of a time like `'90s'`, `'2h'` or `'1d 12h'`, or of a number that is milliseconds already. */
export function milliseconds(time: string | number): number {
  const parts = typeof time === 'string' ? [...time.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)(?![a-z])/g)] : []
  const isRead =
    parts
      .map(([part]) => part)
      .join('')
      .replace(/\s/g, '') === String(time).replace(/\s/g, '')
  const ms =
    typeof time === 'number'
      ? time
      : parts.length > 0 && isRead
        ? parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS[unit!]!, 0)
        : Number.NaN
  if (!Number.isFinite(ms) || ms < 0)
    throw new TypeError(
      `Not a time: ${JSON.stringify(time)}. Give milliseconds, or a text like "90s" or "2h".`,
    )
  return Math.round(ms)
}
