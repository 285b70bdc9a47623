import { useEffect } from 'react'
import { BUBBLE_STYLES, SEND_STYLES } from '../../../../../src/core/messages/send-style'
import { capitalize } from '../../../ui/badge'

export const EFFECTS = [
  { value: '', label: 'No effect' },
  ...SEND_STYLES.map((value) => ({ value, label: effectName(value) })),
]

export function effectName(effect: string): string {
  return effect === 'invisible' ? 'Invisible Ink' : effect.split('_').map(capitalize).join(' ')
}

const BUBBLE_EFFECTS: readonly string[] = BUBBLE_STYLES
export const isScreenEffect = (effect: string) => !BUBBLE_EFFECTS.includes(effect)

const played = new Set<string>()

/** True on the first call for a message. */
export function playOnce(id: string): boolean {
  if (played.has(id)) return false
  played.add(id)
  return true
}

const PIECES = Array.from({ length: 26 }, (_, index) => index)
const LENGTH_MS = 2600

const GLYPHS: Record<string, string> = { balloons: '🎈', love: '❤️', celebration: '✨', shooting_star: '🌠' }

/** Fills the screen of a phone for some seconds. Draws nothing under reduced motion. */
export function ScreenEffect({ effect, done }: { effect: string; done: () => void }) {
  useEffect(() => {
    const timer = setTimeout(done, LENGTH_MS)
    return () => clearTimeout(timer)
  }, [done])
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return null
  return (
    <div className={`screen-effect screen-${effect} ${effect in GLYPHS ? 'rising' : ''}`} aria-hidden="true">
      {PIECES.map((index) => (
        <i
          key={index}
          style={{
            left: `${(index * 37) % 100}%`,
            animationDelay: `${(index * 53) % 600}ms`,
            ['--hue' as string]: (index * 47) % 360,
            ['--turn' as string]: `${(index * 29) % 360}deg`,
          }}
        >
          {GLYPHS[effect]}
        </i>
      ))}
    </div>
  )
}
