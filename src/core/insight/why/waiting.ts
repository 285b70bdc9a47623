import { formatTime } from '../../../base/time.js'
import { dayOf } from '../../lines/pacing.js'
import type { MessageFacts } from './facts.js'
import { seconds } from './steps.js'
import type { Conclusion, VerdictCode } from './story.js'

export const OTHER_LINE =
  'Send it from another line. This one sends nothing until its operator has settled the block with the carrier.'

/** What a message waits for. If there are several causes, the one that blocks all others. */
export function waiting(facts: MessageFacts): Conclusion {
  const { message, attempts, line, queue, hold, now } = facts
  const last = attempts.at(-1)
  const waits = (verdict: VerdictCode, sentence: string, nextStep: string, what: string): Conclusion => ({
    verdict,
    sentences: [sentence],
    nextStep,
    waits: what,
  })
  if (last?.state === 'on_wire')
    return waits(
      'on_wire',
      `The message was handed to the carrier ${seconds(now - last.wireAt)} ago, and no answer has come yet.`,
      'Wait: without an answer the carrier is asked about it.',
      "The carrier's answer.",
    )
  if (last?.state === 'unknown')
    return waits(
      'pending_lookup',
      'The carrier did not say whether it took the message, and is being asked.',
      'Wait, and do not send it a second time: it may be out already.',
      'Word from the carrier whether it has the message.',
    )
  if (message.dueAt !== null) {
    const due = formatTime(message.dueAt)
    return waits('scheduled', `It is to go out at ${due}.`, 'Wait until then.', `Its time at ${due}.`)
  }
  if (hold)
    return waits(
      'conversation_held',
      `The two sides answered each other ${hold.alternations} times without a pause, so the conversation is held until ${formatTime(hold.until)}.`,
      'Stop the program that answers the other one. The operator can release the conversation before that ("trunkline conversation release").',
      `The end of the hold at ${formatTime(hold.until)}.`,
    )
  if (line.blockedAt !== null)
    return waits('line_blocked', 'The line is blocked and sends nothing.', OTHER_LINE, 'Nothing: its end.')
  if (line.state === 'OFFLINE' || line.state === null)
    return waits(
      'line_offline',
      line.state === null
        ? 'No running server drives the line at the moment, so nothing leaves it.'
        : `The line is offline${line.since === null ? '' : ` since ${formatTime(line.since)}`}, so nothing leaves it.`,
      'Bring the line back; the message then goes out by itself. Do not send it a second time.',
      `The line to come back${line.detail ? ` (${line.detail.replace(/\.$/, '')})` : ''}.`,
    )
  if (queue.inConversation > 0)
    return waits(
      'queued_behind',
      `Messages of one conversation go out one after the other, and ${queue.inConversation === 1 ? 'one' : queue.inConversation} of this one ${queue.inConversation === 1 ? 'is' : 'are'} before it.`,
      queue.firstHandle === null
        ? 'Wait until they are out.'
        : `Ask the same about the first of them: ${queue.firstHandle}.`,
      `${queue.inConversation === 1 ? 'An earlier message' : `${queue.inConversation} earlier messages`} of the conversation.`,
    )
  if (message.nextActionAt !== null && message.nextActionAt > now) {
    const at = formatTime(message.nextActionAt)
    return last
      ? waits(
          'retrying',
          `The line did not take it in ${attempts.length === 1 ? 'one attempt' : `${attempts.length} attempts`}, and it is tried again at ${at}.`,
          "Wait, and check the line's connection.",
          `The next attempt at ${at}.`,
        )
      : waits('scheduled', `It is to go out at ${at}.`, 'Wait until then.', `Its time at ${at}.`)
  }
  if (line.isAtDailyLimit) {
    const tomorrow = formatTime((dayOf(now) + 1) * 86_400_000)
    return waits(
      'daily_limit',
      `The line sends ${line.dailyLimit} ${line.dailyLimit === 1 ? 'message' : 'messages'} a day at most, and has done so today.`,
      `Wait until ${tomorrow}, use a further line, or have the operator raise the daily limit.`,
      `The next day of the line, which begins at ${tomorrow}.`,
    )
  }
  if (line.isAtPace)
    return waits(
      'waiting_for_pace',
      `The line sends ${line.pace} messages a second at most, and ${queue.onLine} ${queue.onLine === 1 ? 'is' : 'are'} before this one.`,
      `Wait about ${seconds(1000 * Math.ceil((queue.onLine + 1) / line.pace))}, use a further line, or have the operator raise the pace.`,
      "Its turn at the line's pace.",
    )
  return waits('queued', 'It is the next to go out.', 'Ask again in a moment.', 'The line to take it.')
}
