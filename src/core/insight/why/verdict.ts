import { OUTCOME_UNKNOWN } from '../../messages/message.js'
import type { MessageFacts } from './facts.js'
import { seconds } from './steps.js'
import type { Conclusion, VerdictCode } from './story.js'
import { OTHER_LINE, waiting } from './waiting.js'

/** After this time without a receipt, none is expected. */
const RECEIPT_MS = 60_000

export function conclude(facts: MessageFacts): Conclusion {
  const { message } = facts
  if (!message.isOutbound) return received(facts)
  switch (message.status) {
    case 'DELIVERED':
    case 'SUCCESS':
      return delivered(facts)
    case 'ACCEPTED':
    case 'SENT':
      return sent(facts)
    case 'ERROR':
    case 'DECLINED':
      return failed(facts)
    default:
      return waiting(facts)
  }
}

function received({ message, deliveries }: MessageFacts): Conclusion {
  const posted = deliveries.filter((one) => one.state === 'delivered').length
  const words =
    deliveries.length === 0
      ? 'No webhook is set for it.'
      : posted === deliveries.length
        ? 'Every webhook about it was delivered.'
        : ''
  return {
    verdict: 'received',
    sentences: [`${message.contact} wrote this, and it arrived by ${message.service}.`, words].filter(
      Boolean,
    ),
    nextStep: null,
  }
}

function delivered({ message, events }: MessageFacts): Conclusion {
  const sentences = [`The message was delivered by ${message.service}.`]
  if (message.wasDowngraded) sentences.push('The recipient is not on iMessage, so it went out another way.')
  if (events.some((event) => event.type === 'message.read' && event.subject === message.handle))
    sentences.push('It was read.')
  return { verdict: 'delivered', sentences, nextStep: null }
}

function sent({ message, phone, now }: MessageFacts): Conclusion {
  const went = [`The carrier took the message and sent it by ${message.service}.`]
  if (message.wasDowngraded) went.push('The recipient is not on iMessage.')
  if (phone?.power === false)
    return {
      verdict: 'phone_off',
      sentences: [...went, "The recipient's phone is off."],
      nextStep: 'Wait: it arrives when the phone is on again. Do not send it a second time.',
    }
  if (message.service === 'SMS')
    return {
      verdict: 'sent_no_receipts',
      sentences: [...went, 'Text messages bring no word of their delivery, so SENT is the last status.'],
      nextStep: null,
    }
  if (now - message.sentAt < RECEIPT_MS)
    return {
      verdict: 'sent',
      sentences: [...went, 'Word of its delivery is still to come.'],
      nextStep: 'Wait a moment and ask again.',
    }
  return {
    verdict: 'sent_no_receipts',
    sentences: [...went, `No word of its delivery has come in ${seconds(now - message.sentAt)}.`],
    nextStep:
      "The phone may be off, or the line's carrier may not report deliveries. Do not send it a second time for that.",
  }
}

function failed({ message, attempts, line }: MessageFacts): Conclusion {
  const { error } = message
  const last = attempts.at(-1)
  const words = error?.detail ? [`The carrier said: ${error.detail.replace(/\.$/, '')}.`] : []
  const became = (verdict: VerdictCode, sentence: string, nextStep: string): Conclusion => ({
    verdict,
    sentences: [sentence, ...words],
    nextStep,
  })
  switch (error?.reason) {
    case 'opted_out':
      return became(
        'opted_out',
        `${error.message}, so it was not sent.`,
        'Do not write to them until they opt in again: they do so by texting START to the line.',
      )
    case 'canceled':
      return became(
        'canceled',
        'It was taken back before its time came, and was not sent.',
        'Nothing is left to do.',
      )
    case 'line_blocked':
      return became('line_blocked', `${error.message}.`, OTHER_LINE)
    case 'refused':
      // A carrier reports the block of a line in its answer to a send.
      return line.blockedAt !== null && last && line.blockedAt >= last.wireAt && last.endedAt !== null
        ? became('line_blocked', 'The carrier refused the message and blocked the line.', OTHER_LINE)
        : became(
            'refused',
            'The carrier refused the message; it will not be tried again.',
            'Read what the carrier said, change the message or the number, and send a new one.',
          )
    case 'line_unreachable':
      return became(
        'unreachable',
        `${error.message}. It was not sent.`,
        "Check the line's connection, then send it again: nothing went out.",
      )
    case 'not_imessage':
      return became('not_imessage', `${error.message}.`, 'Send them a plain message instead.')
    case OUTCOME_UNKNOWN:
      return became(
        'outcome_unknown',
        `${error.message}.`,
        'Ask the recipient whether it arrived before you send it again: it may be there already.',
      )
    case 'undelivered':
    case 'declined':
      return became(
        'undelivered',
        'The carrier took the message and then could not deliver it.',
        'Check the number. Send a new message if it is right.',
      )
    case 'line_removed':
      return became('line_removed', `${error.message}.`, 'Send it from another line.')
    case 'conversation_held':
      return became(
        'conversation_dropped',
        `${error.message}.`,
        'Stop the program that answers the other one, then send it again.',
      )
    default:
      return became('failed', `${error?.message ?? 'It failed'}.`, 'Send it again.')
  }
}
