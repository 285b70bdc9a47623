import { kindOf } from '../../media/file-kind.js'
import { sizeWords } from '../../media/limits.js'
import { OUTCOME_UNKNOWN, type Service } from '../../messages/message.js'
import type { MessageFacts } from './facts.js'
import { seconds } from './steps.js'
import type { Conclusion, VerdictCode } from './story.js'
import { explainWaiting, OTHER_LINE } from './waiting.js'
import { aboutWindow } from './window.js'

/** After this time without a receipt, none is expected. */
const RECEIPT_MS = 60_000

export function conclude(facts: MessageFacts): Conclusion {
  const { message } = facts
  if (!message.isOutbound) return received(facts)
  if (message.nextActionAt !== null) return explainWaiting(facts)
  switch (message.status) {
    case 'DELIVERED':
    case 'SUCCESS':
      return aboutMedia(facts, delivered(facts))
    case 'ACCEPTED':
    case 'SENT':
      return aboutMedia(facts, sent(facts))
    case 'ERROR':
    case 'DECLINED':
      return aboutWindow(facts, failed(facts))
    default:
      return explainWaiting(facts)
  }
}

function received({ message, deliveries }: MessageFacts): Conclusion {
  const posted = deliveries.filter((one) => one.state === 'delivered').length
  const words =
    deliveries.length === 0
      ? 'No webhook is configured for inbound messages.'
      : posted === deliveries.length
        ? 'All of its webhooks were delivered.'
        : ''
  return {
    verdict: 'received',
    sentences: [`The message arrived from ${message.contact} by ${message.service}.`, words].filter(Boolean),
    nextStep: null,
  }
}

/** A simulated line may not fetch media, so a dead link does not stop its message. */
function aboutMedia({ isMediaUnchecked, copy }: MessageFacts, told: Conclusion): Conclusion {
  const sentences = [...told.sentences]
  if (isMediaUnchecked)
    sentences.push(
      'The link in media_url was not checked, because this line is simulated. The line setting media: checked makes the line fetch it.',
    )
  if (copy)
    sentences.push(
      `The picture was larger than the carrier takes, so it got a smaller copy (${sizeWords(copy.size)}, ${kindOf(copy.extension).type}).`,
    )
  return { ...told, sentences }
}

/** The better service that did not reach the recipient. */
function missedService({ message, attempts }: MessageFacts): Service {
  const first = attempts[0]?.service
  return first === undefined || first === message.service ? 'iMessage' : first
}

function delivered(facts: MessageFacts): Conclusion {
  const { message, events } = facts
  const sentences = [`The message was delivered by ${message.service}.`]
  if (message.wasDowngraded)
    sentences.push(`The recipient is not on ${missedService(facts)}, so ${message.service} was used.`)
  if (events.some((event) => event.type === 'message.read' && event.subject === message.handle))
    sentences.push('The recipient read it.')
  return { verdict: 'delivered', sentences, nextStep: null }
}

function sent(facts: MessageFacts): Conclusion {
  const { message, phone, now } = facts
  const went = [`The carrier accepted the message and sent it by ${message.service}.`]
  if (message.wasDowngraded) went.push(`The recipient is not on ${missedService(facts)}.`)
  if (phone?.power === false)
    return {
      verdict: 'phone_off',
      sentences: [...went, "The recipient's phone is off."],
      nextStep: 'Wait until the phone is on. Do not send the message again.',
    }
  if (message.service === 'SMS')
    return {
      verdict: 'sent_no_receipts',
      sentences: [...went, 'SMS has no delivery receipts, so SENT is the final status.'],
      nextStep: null,
    }
  if (now - message.sentAt < RECEIPT_MS)
    return {
      verdict: 'sent',
      sentences: [...went, 'The delivery receipt has not arrived yet.'],
      nextStep: 'Check again in a moment.',
    }
  return {
    verdict: 'sent_no_receipts',
    sentences: [...went, `No delivery receipt has arrived for ${seconds(now - message.sentAt)}.`],
    nextStep: 'The phone may be off, or the carrier may not send receipts. Do not send the message again.',
  }
}

function failed({ message, attempts, line }: MessageFacts): Conclusion {
  const { error } = message
  const last = attempts.at(-1)
  const said = error?.detail?.replace(/\.$/, '')
  const words = said ? [error?.reason === 'media' ? `${said}.` : `The carrier answered: ${said}.`] : []
  const became = (verdict: VerdictCode, sentence: string, nextStep: string): Conclusion => ({
    verdict,
    sentences: [sentence, ...words],
    nextStep,
  })
  switch (error?.reason) {
    case 'opted_out':
      return became(
        'opted_out',
        `${error.message}, so the message was not sent.`,
        'Do not write to this number until its owner texts START to the line.',
      )
    case 'canceled':
      return became('canceled', 'The scheduled message was canceled and not sent.', 'Nothing to do.')
    case 'line_blocked':
      return became('line_blocked', `${error.message}.`, OTHER_LINE)
    case 'refused':
      // A carrier reports the block of a line in its answer to a send.
      return line.blockedAt !== null && last && line.blockedAt >= last.wireAt && last.endedAt !== null
        ? became('line_blocked', 'The carrier refused the message and blocked the line.', OTHER_LINE)
        : became(
            'refused',
            'The carrier refused the message. Trunkline does not retry it.',
            "Read the carrier's answer, correct the message or the number, and send a new message.",
          )
    case 'media':
      return became(
        'media_refused',
        'The media could not be sent, so nothing of the message was sent.',
        'Send a file that the line takes, in a new message.',
      )
    case 'line_unreachable':
      return became(
        'unreachable',
        `${error.message}. The message was not sent.`,
        "Check the line's connection, then send the message again. Nothing was sent.",
      )
    case 'not_imessage':
      return became('not_imessage', `${error.message}.`, 'Send a plain message instead.')
    case OUTCOME_UNKNOWN:
      return became(
        'outcome_unknown',
        `${error.message}.`,
        'The message may have arrived. Ask the recipient before you send it again.',
      )
    case 'undelivered':
    case 'declined':
      return became(
        'undelivered',
        'The carrier accepted the message but could not deliver it.',
        'Check the number. If it is correct, send a new message.',
      )
    case 'line_removed':
      return became('line_removed', `${error.message}.`, 'Send the message from another line.')
    case 'conversation_held':
      return became(
        'conversation_dropped',
        `${error.message}.`,
        'Stop the program that replies automatically, then send the message again.',
      )
    default:
      return became('failed', `${error?.message ?? 'The message failed'}.`, 'Send the message again.')
  }
}
