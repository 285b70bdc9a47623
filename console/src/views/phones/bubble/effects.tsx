import { useEffect } from 'react'

/** The names of send styles. Some move the bubble, others fill the screen. */
const NAMES: Record<string, string> = {
  celebration: 'Celebration',
  shooting_star: 'Shooting Star',
  fireworks: 'Fireworks',
  lasers: 'Lasers',
  love: 'Love',
  confetti: 'Confetti',
  balloons: 'Balloons',
  spotlight: 'Spotlight',
  echo: 'Echo',
  invisible: 'Invisible Ink',
  gentle: 'Gentle',
  loud: 'Loud',
  slam: 'Slam',
}

export const EFFECTS = [
  { value: '', label: 'No effect' },
  ...Object.entries(NAMES).map(([value, label]) => ({ value, label })),
]
export const effectName = (effect: string) => NAMES[effect] ?? effect

const ON_BUBBLE = ['invisible', 'gentle', 'loud', 'slam']
export const isScreenEffect = (effect: string) => !ON_BUBBLE.includes(effect)

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
    <div className={`screen-effect screen-${effect}`} aria-hidden="true">
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
