import { formatTime } from '../../../base/time.js'
import { dayOf, paceInWords, perMillisecond } from '../../lines/pacing.js'
import type { MessageFacts } from './facts.js'
import { seconds } from './steps.js'
import type { Conclusion, VerdictCode } from './story.js'

export const OTHER_LINE =
  'Send the message from another line. This line sends nothing until its operator resolves the block with the carrier.'

/** The cause for which a message waits. If there are several, the one that blocks all others. */
export function explainWaiting(facts: MessageFacts): Conclusion {
  const { message, attempts, line, queue, hold, isInDoubt, now } = facts
  const last = attempts.at(-1)
  const waits = (verdict: VerdictCode, sentence: string, nextStep: string, what: string): Conclusion => ({
    verdict,
    sentences: [sentence],
    nextStep,
    waits: what,
  })
  if (isInDoubt)
    return waits(
      'held_after_restore',
      'The database was restored while the message waited. The message may have been sent before, so it is held.',
      'Do not send the message again. The operator decides with "trunkline recover" whether it is sent.',
      "The operator's decision.",
    )
  if (last?.state === 'on_wire')
    return waits(
      'on_wire',
      `The message went to the carrier ${seconds(now - last.wireAt)} ago. The carrier has not answered yet.`,
      'Wait. Without an answer, Trunkline looks up the message at the carrier.',
      "The carrier's answer.",
    )
  if (last?.state === 'unknown')
    return waits(
      'pending_lookup',
      'The carrier did not confirm the message. Trunkline is looking it up at the carrier.',
      'Wait. Do not send the message again: it may already have been sent.',
      "The carrier's answer whether it has the message.",
    )
  if (message.dueAt !== null) {
    const due = formatTime(message.dueAt)
    return waits(
      'scheduled',
      `The message is scheduled for ${due}.`,
      'Wait until then.',
      `Its send time, ${due}.`,
    )
  }
  if (hold)
    return waits(
      'conversation_held',
      `The two sides replied to each other ${hold.alternations} times without a pause, so the conversation is held until ${formatTime(hold.until)}.`,
      'Stop the program that replies automatically. The operator can release the conversation earlier with "trunkline conversation release".',
      `The end of the hold at ${formatTime(hold.until)}.`,
    )
  if (line.blockedAt !== null)
    return waits(
      'line_blocked',
      'The line is blocked and sends nothing.',
      OTHER_LINE,
      'The message ends with an error.',
    )
  if (line.state === 'OFFLINE' || line.state === null)
    return waits(
      'line_offline',
      line.state === null
        ? 'No running server drives the line, so it sends nothing.'
        : `The line is offline${line.since === null ? '' : ` since ${formatTime(line.since)}`}, so it sends nothing.`,
      'Reconnect the line. The message is then sent automatically; do not send it again.',
      `The line to come online${line.detail ? ` (${line.detail.replace(/\.$/, '')})` : ''}.`,
    )
  if (queue.inConversation > 0)
    return waits(
      'queued_behind',
      `Messages of a conversation are sent one after the other. ${queue.inConversation} ${queue.inConversation === 1 ? 'message is' : 'messages are'} ahead of this one.`,
      queue.firstHandle === null
        ? 'Wait until they are sent.'
        : `Check the first of them: ${queue.firstHandle}.`,
      `${queue.inConversation === 1 ? 'An earlier message' : `${queue.inConversation} earlier messages`} of the conversation.`,
    )
  if (message.nextActionAt !== null && message.nextActionAt > now) {
    const at = formatTime(message.nextActionAt)
    return last
      ? waits(
          'retrying',
          `${attempts.length === 1 ? 'One attempt' : `${attempts.length} attempts`} could not reach the carrier. Trunkline retries at ${at}.`,
          "Wait, and check the line's connection.",
          `The next attempt at ${at}.`,
        )
      : waits('scheduled', `The message is scheduled for ${at}.`, 'Wait until then.', `Its send time, ${at}.`)
  }
  if (line.isAtDailyLimit) {
    const tomorrow = formatTime((dayOf(now) + 1) * 86_400_000)
    return waits(
      'daily_limit',
      line.isShared
        ? `Your share of the shared line's daily limit, ${counted(line.dailyLimit)}, is used up for today.`
        : `The line has sent its daily limit of ${counted(line.dailyLimit)} today.`,
      `Wait until ${tomorrow}, use another line, or ask the operator to raise the daily limit.`,
      `The next day, which begins at ${tomorrow}.`,
    )
  }
  if (line.isAtPace)
    return waits(
      'waiting_for_pace',
      `The line sends at most ${paceInWords(line)}. ${queue.onLine} ${queue.onLine === 1 ? 'message is' : 'messages are'} ahead of this one.`,
      `Wait about ${seconds((queue.onLine + 1) / perMillisecond(line))}, use another line, or ask the operator to raise the pace.`,
      "Its turn at the line's pace.",
    )
  return waits(
    'queued',
    'The message is next in the queue.',
    'Check again in a moment.',
    'The line to send it.',
  )
}

function counted(messages: number): string {
  return `${messages} ${messages === 1 ? 'message' : 'messages'}`
}
