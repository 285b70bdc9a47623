import type { MessageExtra } from './extra.js'
import type { Message } from './message.js'

/** The first message of the thread that a reply to this message belongs to. */
export function originatorOf(
  target: Pick<Message, 'handle' | 'extra'>,
  partIndex: number | null,
): NonNullable<MessageExtra['threadOriginator']> {
  return target.extra?.threadOriginator ?? { handle: target.handle, partIndex }
}
