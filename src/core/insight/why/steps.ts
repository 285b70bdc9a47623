import { formatTime } from '../../../base/time.js'
import type { MessageState } from '../../events/event.js'
import { MEDIA_FAULT } from '../../media/limits.js'
import type { Message } from '../../messages/message.js'
import type { AttemptFacts, MessageFacts } from './facts.js'
import type { Step } from './story.js'
import { deliveryStep } from './webhooks.js'

/** The history of a message, in order. Among steps with equal times, the cause comes before its effect. */
export function stepsOf(facts: MessageFacts): Step[] {
  const steps = [
    beginning(facts.message),
    ...facts.attempts.flatMap((attempt, i) => attemptSteps(facts, attempt, facts.attempts[i - 1])),
    ...eventSteps(facts),
    ...facts.deliveries.map(deliveryStep),
  ]
  return steps.sort((a, b) => a.at - b.at)
}

function beginning({ isOutbound, createdAt, service, lineNumber, contact, groupId }: Message): Step {
  const other = groupId === null ? contact : `the group ${groupId}`
  return isOutbound
    ? { at: createdAt, what: 'accepted', detail: `Accepted for the line ${lineNumber}, to ${other}.` }
    : {
        at: createdAt,
        what: 'received',
        detail: `Received by ${service} from ${contact} on the line ${lineNumber}.`,
      }
}

function attemptSteps(facts: MessageFacts, attempt: AttemptFacts, before: AttemptFacts | undefined): Step[] {
  const steps: Step[] = []
  const chosen = serviceStep(facts, attempt, before)
  if (chosen) steps.push({ at: attempt.wireAt, what: 'service', detail: chosen })
  const waited = attempt.wireAt - facts.message.createdAt
  const after = attempt.n === 1 && waited >= 1000 ? ` after ${seconds(waited)} in the queue` : ''
  steps.push({
    at: attempt.wireAt,
    what: 'attempt',
    detail: `Attempt ${attempt.n} by ${attempt.service}${after}: ${outcomeOf(attempt)}.`,
  })
  return steps
}

/** The chosen service, and why it differs from the previous one. */
function serviceStep(
  facts: MessageFacts,
  { service, n }: AttemptFacts,
  before: AttemptFacts | undefined,
): string | null {
  if (before)
    return before.service === service
      ? null
      : `The recipient is not on ${before.service}: the next attempt uses ${service}.`
  if (n !== 1) return null
  const wanted = facts.events.find((event) => event.type === 'message.created')?.data.service
  return wanted !== undefined && wanted !== service
    ? `The recipient is not on ${wanted}: ${service} was chosen.`
    : `${service} was chosen.`
}

function outcomeOf(attempt: AttemptFacts): string {
  const words =
    attempt.code === null ? '' : ` (${attempt.code}: ${(attempt.detail ?? '').replace(/\.$/, '')})`
  const asked =
    attempt.lookups === 0 ? '' : `, looked up ${attempt.lookups === 1 ? 'once' : `${attempt.lookups} times`}`
  const wasOpen = attempt.code !== null
  switch (attempt.state) {
    case 'on_wire':
      return 'the carrier has not answered yet'
    case 'accepted':
      return wasOpen ? `the answer was lost${words}, but the carrier has it` : 'the carrier accepted it'
    case 'refused':
      return attempt.code === MEDIA_FAULT ? `it was not sent${words}` : `the carrier refused it${words}`
    case 'never_left':
      return `it did not reach the carrier${words}`
    case 'unknown':
      return `the outcome is unknown${words}${asked}`
    case 'given_up':
      return `the outcome could not be found out${words}${asked}`
  }
}

function eventSteps({ message, events }: MessageFacts): Step[] {
  const steps: Step[] = []
  let told = false
  for (const event of events) {
    const { at } = event
    if (event.subject === message.handle) {
      told ||= 'status' in event.data && event.data.status === message.status
      // Every outbound message begins as QUEUED; only another first status is worth a step.
      if (
        event.type === 'message.updated' ||
        (event.type === 'message.created' && event.data.status !== 'QUEUED')
      )
        steps.push({ at, what: 'status', detail: statusWords(event.data) })
      else if (event.type === 'message.read')
        steps.push({ at: event.data.readAt, what: 'read', detail: 'The recipient read it.' })
      else if (event.type === 'message.reaction')
        steps.push({ at, what: 'reaction', detail: 'It got a reaction.' })
      continue
    }
    if (at < message.createdAt || at > lastConcern(message)) continue
    if (event.type === 'line.status.changed')
      steps.push({ at, what: 'line', detail: `The line became ${event.data.status}.` })
    else if (event.type === 'line.blocked') steps.push({ at, what: 'line', detail: 'The line was blocked.' })
    else if (event.type === 'conversation.held' && event.data.lineNumber === message.lineNumber)
      steps.push({
        at,
        what: 'conversation',
        detail: `The conversation looked like a loop and is held until ${formatTime(event.data.until)}.`,
      })
    else if (event.type === 'conversation.released' && event.data.lineNumber === message.lineNumber)
      steps.push({ at, what: 'conversation', detail: 'The conversation was released.' })
  }
  // The log may have been trimmed; the message itself still has its last status.
  if (!told && message.isOutbound)
    steps.push({ at: message.updatedAt, what: 'status', detail: statusWords(message) })
  return steps
}

/** Until when the state of the line and the conversation affected the message. */
function lastConcern({ nextActionAt, updatedAt, isOutbound, createdAt }: Message): number {
  if (!isOutbound) return createdAt - 1
  return nextActionAt === null ? updatedAt : Number.POSITIVE_INFINITY
}

function statusWords({ status, service, error }: MessageState | Message): string {
  if (!error) return `${status}${status === 'QUEUED' || status === 'REGISTERED' ? '' : ` by ${service}`}.`
  const words = error.detail ? ` (${error.detail.replace(/\.$/, '')})` : ''
  return `${status} ${error.code}, ${error.reason}: ${error.message}${words}.`
}

export function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`
}
