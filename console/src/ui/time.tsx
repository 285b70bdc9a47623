import { useNow } from '../api/clock'

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

function relativeTime(at: number, now: number): string {
  const past = at - now
  if (Math.abs(past) < 45_000) return past > 5000 ? 'in a moment' : 'just now'
  if (Math.abs(past) > 30 * 86_400_000) return day.format(at)
  const [unit, length] = STEPS.find(([, ms]) => Math.abs(past) >= ms * 0.95) ?? ['minute', 60_000]
  return relative.format(Math.round(past / length), unit)
}

/** Hours and minutes, such as 14:05. */
export const clockTime = (at: string | number) => clock.format(new Date(at))
export const exactTime = (at: string | number) => exact.format(new Date(at))

/** The relative time by the world's clock, with the exact time on hover. */
export function Time({ at }: { at: string }) {
  const now = useNow()
  return (
    <time dateTime={at} title={exactTime(at)} className="nowrap">
      {relativeTime(Date.parse(at), now)}
    </time>
  )
}

/** Milliseconds in the largest fitting unit, such as "1.4 s" or "2 h 5 min". */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`
  return `${(ms / 86_400_000).toFixed(1)} days`
}

/** A line's pace, such as "10 per second" or "100 per hour". */
export function paceText({ pace, pace_unit: unit }: { pace: number; pace_unit: string }): string {
  return pace === 0 ? 'no limit' : `${pace} per ${unit}`
}
