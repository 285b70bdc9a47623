import type { VerdictCode } from '../insight/why/story.js'
import type { Entry } from './entry.js'

const NOTHING = 'Nothing to do.'
const WAIT = 'Wait. Do not send the message again.'

/** Verdicts of `trunkline why`. */
export const VERDICT_ENTRIES: Readonly<Record<VerdictCode, Entry>> = {
  received: { means: 'The inbound message arrived.', why: 'A person wrote to your line.', next: NOTHING },
  delivered: {
    means: 'The message is on the phone of the recipient.',
    why: 'The delivery receipt arrived.',
    next: NOTHING,
  },
  sent: {
    means: 'The carrier has the message. The delivery receipt is still to come.',
    why: 'Less than a minute has passed since it was sent.',
    next: 'Look again in a moment.',
  },
  sent_no_receipts: {
    means: 'The carrier has the message, and no delivery receipt is expected.',
    why: 'SMS often has no receipts. For other services, the phone may be off.',
    next: 'Nothing to do. Do not send the message again.',
  },
  phone_off: {
    means: 'The message was sent, and the virtual phone is off.',
    why: 'Someone switched the simulated phone off.',
    next: 'Switch the phone on. The message arrives then.',
  },
  scheduled: {
    means: 'The message waits for its send time.',
    why: 'It was sent with send_at.',
    next: 'Wait, or cancel it with DELETE /v3/scheduled-messages/{handle}.',
  },
  queued: {
    means: 'The message waits for its turn on the line.',
    why: 'Other messages were accepted before it.',
    next: WAIT,
  },
  queued_behind: {
    means: 'The message waits for an earlier message of its conversation.',
    why: 'Messages to one recipient are sent in the order in which they were accepted.',
    next: 'Wait, or ask why the earlier message waits.',
  },
  waiting_for_pace: {
    means: 'The message waits for the pace of the line.',
    why: 'The line sends only so many messages per minute, so that the carrier does not block it.',
    next: 'Wait. The operator can change the pace of the line.',
  },
  daily_limit: {
    means: 'The message waits for the next day.',
    why: 'The line, or your share of it, has used up its daily limit.',
    next: 'Wait until the next day, or send from another line.',
  },
  line_offline: {
    means: 'The message waits until the line is connected.',
    why: 'The connection to the carrier is down.',
    next: 'Wait. The operator can look for the cause with "trunkline line test".',
  },
  line_blocked: {
    means: 'The line is blocked and sends nothing.',
    why: 'The carrier or the operator blocked it.',
    next: 'Send from another line. The operator resolves the block with the carrier.',
  },
  line_removed: {
    means: 'The message was not sent, because its line was removed.',
    why: 'The operator removed the line while the message waited.',
    next: 'Send the message from another line.',
  },
  conversation_held: {
    means: 'The conversation is held, and the message waits.',
    why: 'Two programs replied to each other again and again without a pause.',
    next: 'Stop the automatic replies. The operator can release it with "trunkline conversation release".',
  },
  held_after_restore: {
    means: 'The message is held after a restore of the database.',
    why: 'It may have been sent between the backup and the restore.',
    next: 'Do not send it again. The operator decides with "trunkline recover".',
  },
  conversation_dropped: {
    means: 'The message was dropped with its held conversation.',
    why: 'The operator released the conversation and dropped what waited.',
    next: 'Stop the automatic replies, then send the message again.',
  },
  on_wire: {
    means: 'The message is on its way to the carrier.',
    why: 'The carrier has not answered yet.',
    next: 'Wait. Without an answer, Trunkline looks the message up at the carrier.',
  },
  retrying: {
    means: 'The line could not send the message and tries again.',
    why: 'The carrier was not reachable or asked to try later.',
    next: WAIT,
  },
  pending_lookup: {
    means: 'Trunkline is finding out whether the carrier has the message.',
    why: 'The connection ended before the carrier confirmed it.',
    next: WAIT,
  },
  outcome_unknown: {
    means: 'It is not known whether the message was sent (error_code 10002).',
    why: 'The connection ended before the carrier confirmed it, and the carrier cannot tell.',
    next: 'Ask the recipient before you send it again.',
  },
  opted_out: {
    means: 'The message was not sent, because the recipient opted out (error_code 4002).',
    why: 'The person texted STOP to the line, or was opted out through the API.',
    next: 'Do not write to this number until the person texts START.',
  },
  canceled: {
    means: 'The scheduled message was canceled.',
    why: 'You or the operator canceled it.',
    next: NOTHING,
  },
  refused: {
    means: 'The carrier refused the message.',
    why: 'The number, the content or the sender is not allowed there. The summary has the words of the carrier.',
    next: 'Correct what the carrier names, and send a new message.',
  },
  media_refused: {
    means: 'The message was not sent, because its media cannot be sent.',
    why: 'The file cannot be fetched, or is larger than the carrier takes and cannot be made smaller. The summary names the size and the limit.',
    next: 'Send a smaller file, or correct the link, in a new message.',
  },
  unreachable: {
    means: 'The message was not sent, because the line could not reach the carrier.',
    why: 'The connection stayed down for longer than a message may wait.',
    next: 'Check the connection of the line, then send the message again.',
  },
  not_imessage: {
    means: 'The message needs iMessage, and the recipient does not have it.',
    why: 'Some content, such as an App Card or a group change, exists only on iMessage.',
    next: 'Send a plain message instead.',
  },
  undelivered: {
    means: 'The carrier took the message but could not deliver it.',
    why: 'The number may be wrong or out of service.',
    next: 'Check the number. If it is correct, send a new message.',
  },
  failed: {
    means: 'The message failed.',
    why: 'The error of the message says more.',
    next: 'Read error_message and error_detail, then send the message again.',
  },
}
