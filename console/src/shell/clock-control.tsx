import { useEffect, useRef, useState } from 'react'
import { api } from '../api/client'
import { useCanAdvance, useIsSimulated, useNow } from '../api/clock'
import { useAction } from '../api/queries'
import { Button } from '../ui/button'
import { exactTime } from '../ui/time'

const STEPS = [
  ['1 minute', 60_000],
  ['15 minutes', 900_000],
  ['1 hour', 3_600_000],
  ['1 day', 86_400_000],
  ['1 week', 7 * 86_400_000],
] as const

const format = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})

/** The simulated world's time, with a menu that advances it where that is allowed. */
export function ClockControl() {
  const isSimulated = useIsSimulated()
  const canAdvance = useCanAdvance()
  const time = useNow(1000)
  const [isOpen, setOpen] = useState(false)
  const anchor = useRef<HTMLDivElement>(null)
  const advance = useAction(([, ms]: (typeof STEPS)[number]) => api.post('/sim/clock', { advance_ms: ms }), {
    stale: 'everything',
    done: (_answer, [step]) => `Time advanced by ${step}`,
  })
  useEffect(() => {
    if (!isOpen) return
    const close = (event: Event) => {
      const isOutside = !anchor.current?.contains(event.target as Node)
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : isOutside) setOpen(false)
    }
    addEventListener('pointerdown', close)
    addEventListener('keydown', close)
    return () => {
      removeEventListener('pointerdown', close)
      removeEventListener('keydown', close)
    }
  }, [isOpen])
  if (!isSimulated) return null
  return (
    <div className="row clock popover-anchor" ref={anchor}>
      <time dateTime={new Date(time).toISOString()} title={`Time of the simulated world: ${exactTime(time)}`}>
        {format.format(time)}
      </time>
      {canAdvance && (
        <Button
          size="small"
          icon="forward"
          aria-label="Advance time"
          aria-expanded={isOpen}
          disabled={advance.isPending}
          onClick={() => setOpen(!isOpen)}
        />
      )}
      {isOpen && (
        <div className="popover" role="group" aria-label="Advance time by">
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
