import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { advanceClock, useClock, useNow } from '../api/clock'
import { Button } from '../ui/button'
import { exactTime } from '../ui/time'
import { notify, notifyError } from '../ui/toast'

const STEPS = [
  ['1 minute', 60_000],
  ['15 minutes', 900_000],
  ['1 hour', 3_600_000],
  ['1 day', 86_400_000],
  ['1 week', 7 * 86_400_000],
] as const

const shown = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})

/** The simulated world's time, and how to move it. */
export function ClockControl() {
  const client = useQueryClient()
  const { data: now } = useClock()
  const time = useNow(1000)
  const [open, setOpen] = useState(false)
  const anchor = useRef<HTMLDivElement>(null)
  const advance = useMutation({
    mutationFn: ([, ms]: (typeof STEPS)[number]) => advanceClock(ms),
    onSuccess: (_answer, [words]) => {
      notify(`Time moved ahead by ${words}`)
      void client.invalidateQueries()
    },
    onError: notifyError,
  })
  useEffect(() => {
    if (!open) return
    const close = (event: Event) => {
      const outside = !anchor.current?.contains(event.target as Node)
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : outside) setOpen(false)
    }
    addEventListener('pointerdown', close)
    addEventListener('keydown', close)
    return () => {
      removeEventListener('pointerdown', close)
      removeEventListener('keydown', close)
    }
  }, [open])
  if (!now) return null
  return (
    <div className="clock popover-anchor" ref={anchor}>
      <time dateTime={new Date(time).toISOString()} title={`Time of the simulated world: ${exactTime(time)}`}>
        {shown.format(time)}
      </time>
      <Button
        size="small"
        icon="forward"
        aria-label="Move time ahead"
        aria-expanded={open}
        disabled={advance.isPending}
        onClick={() => setOpen(!open)}
      />
      {open && (
        <div className="popover" role="group" aria-label="Move time ahead by">
          {STEPS.map((step) => (
            <Button
              key={step[0]}
              variant="ghost"
              size="small"
              onClick={() => {
                setOpen(false)
                advance.mutate(step)
              }}
            >
              + {step[0]}
            </Button>
          ))}
        </div>
      )}
    </div>
  )
}
