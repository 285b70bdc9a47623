import { formatTime } from '../../../base/time.js'
import type { MessageFacts } from './facts.js'
import type { Conclusion } from './story.js'

/** WhatsApp takes free text only within this time of the person's last message. */
const WINDOW_MS = 24 * 3_600_000

/** Adds to a failed WhatsApp message that it was sent when free text was not possible. */
export function aboutWindow({ message, attempts, heard, now }: MessageFacts, told: Conclusion): Conclusion {
  if (heard === null || !['refused', 'undelivered'].includes(told.verdict)) return told
  const sentAt = attempts.at(-1)?.wireAt ?? message.createdAt
  if (heard.before !== null && sentAt < heard.before + WINDOW_MS) return told
  const rule = 'WhatsApp takes free text only within 24 hours of the last message from the person.'
  const past =
    heard.before === null
      ? `${message.contact} had not written to this line before.`
      : `${message.contact} had last written to this line at ${formatTime(heard.before)}, so free text was possible until ${formatTime(heard.before + WINDOW_MS)}.`
  const until = (heard.last ?? Number.NEGATIVE_INFINITY) + WINDOW_MS
  return {
    ...told,
    sentences: [...told.sentences, rule, past],
    nextStep:
      now < until
        ? `They have written since: send a new message before ${formatTime(until)}.`
        : 'Wait until they write to this line; Trunkline does not send WhatsApp templates.',
  }
}
