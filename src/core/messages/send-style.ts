/** Expressive styles of iMessage that fill the screen. */
export const SCREEN_STYLES = [
  'celebration',
  'shooting_star',
  'fireworks',
  'lasers',
  'love',
  'confetti',
  'balloons',
  'spotlight',
  'echo',
] as const

/** Expressive styles of iMessage that move the bubble. */
export const BUBBLE_STYLES = ['invisible', 'gentle', 'loud', 'slam'] as const

export const SEND_STYLES = [...SCREEN_STYLES, ...BUBBLE_STYLES] as const
export type SendStyle = (typeof SEND_STYLES)[number]
