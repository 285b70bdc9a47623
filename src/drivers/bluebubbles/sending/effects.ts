import type { SendStyle } from '../../../core/messages/message.js'

/** The server checks no effect: a wrong name would be sent and not be seen. */
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

/** Empty for none and for those that have no name with us. */
export function styleOf(effect: string): SendStyle | '' {
  return STYLES.get(effect) ?? ''
}
