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

export function relativeTime(at: number, now: number): string {
  const past = at - now
  if (Math.abs(past) < 45_000) return past > 5000 ? 'in a moment' : 'just now'
  if (Math.abs(past) > 30 * 86_400_000) return day.format(at)
  const [unit, length] = STEPS.find(([, ms]) => Math.abs(past) >= ms * 0.95) ?? ['minute', 60_000]
  return relative.format(Math.round(past / length), unit)
}

/** Hours and minutes, as a phone shows them. */
export const clockTime = (at: string | number) => clock.format(new Date(at))
export const exactTime = (at: string | number) => exact.format(new Date(at))

/** How long ago by the world's clock; the exact time on hover. */
export function Time({ at }: { at: string }) {
  const now = useNow()
  return (
    <time dateTime={at} title={exactTime(at)} className="nowrap">
      {relativeTime(Date.parse(at), now)}
    </time>
  )
}
