import type { SendStyle } from '../../../core/messages/send-style.js'

/** The server does not validate effects: a message with a wrong name arrives without one. */
const EFFECTS: Record<SendStyle, string> = {
  celebration: 'com.apple.messages.effect.CKSparklesEffect',
  shooting_star: 'com.apple.messages.effect.CKShootingStarEffect',
  fireworks: 'com.apple.messages.effect.CKFireworksEffect',
  lasers: 'com.apple.messages.effect.CKLasersEffect',
  love: 'com.apple.messages.effect.CKHeartEffect',
  confetti: 'com.apple.messages.effect.CKConfettiEffect',
  balloons: 'com.apple.messages.effect.CKHappyBirthdayEffect',
  spotlight: 'com.apple.messages.effect.CKSpotlightEffect',
  echo: 'com.apple.messages.effect.CKEchoEffect',
  invisible: 'com.apple.MobileSMS.expressivesend.invisibleink',
  gentle: 'com.apple.MobileSMS.expressivesend.gentle',
  loud: 'com.apple.MobileSMS.expressivesend.loud',
  slam: 'com.apple.MobileSMS.expressivesend.impact',
}
const STYLES = new Map(Object.entries(EFFECTS).map(([style, effect]) => [effect, style as SendStyle]))

export function effectOf(style: SendStyle | ''): string | undefined {
  return style === '' ? undefined : EFFECTS[style]
}

/** Empty if there is no effect or no send style for it. */
export function styleOf(effect: string): SendStyle | '' {
  return STYLES.get(effect) ?? ''
}
