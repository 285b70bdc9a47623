import { useEffect } from 'react'

/** The expressive styles. Some move the bubble, the others fill the screen. */
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

export const EFFECTS = Object.entries(NAMES)
export const effectName = (effect: string) => NAMES[effect] ?? effect

const ON_BUBBLE = ['invisible', 'gentle', 'loud', 'slam']
export const isScreenEffect = (effect: string) => !ON_BUBBLE.includes(effect)

const played = new Set<string>()

/** True the first time a message is asked about. */
export function playOnce(id: string): boolean {
  if (played.has(id)) return false
  played.add(id)
  return true
}

const PIECES = Array.from({ length: 26 }, (_, index) => index)
const LENGTH_MS = 2600

const GLYPHS: Record<string, string> = { balloons: '🎈', love: '❤️', celebration: '✨', shooting_star: '🌠' }

/** Fills a phone's screen for a moment. Under reduced motion nothing moves, so nothing is drawn. */
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
