import { formatTime } from '../../../base/time.js'
import type { DeliveryFacts } from './facts.js'
import type { Step } from './story.js'

/** Describes the webhook deliveries of a message. */

export function deliveryStep(one: DeliveryFacts): Step {
  const where = one.url === null ? '' : ` to ${one.url}`
  return {
    at: one.finishedAt ?? one.createdAt,
    what: 'webhook',
    detail: `${one.type}${where} about ${one.eventType}: ${outcome(one)}.`,
  }
}

function outcome(one: DeliveryFacts): string {
  const posts = times(one.attempts)
  const last = one.httpStatus === null ? (one.reason ?? 'no answer') : `the answer was ${one.httpStatus}`
  switch (one.state) {
    case 'delivered':
      return `delivered; posted ${posts}, ${last}`
    case 'failed':
      return `failed; posted ${posts}, ${last}`
    case 'canceled':
      return `canceled; posted ${posts}, ${one.reason ?? 'its webhook was removed'}`
    case 'pending': {
      const next = one.nextAt === null ? '' : `; next attempt at ${formatTime(one.nextAt)}`
      return one.attempts === 0 ? `not posted yet${next}` : `posted ${posts}, ${last}${next}`
    }
  }
}

/** A sentence about the deliveries that did not succeed. */
export function judgeDeliveries(deliveries: readonly DeliveryFacts[]): {
  sentences: string[]
  nextStep: string | null
} {
  const lost = deliveries.filter((one) => one.state === 'failed')
  const trying = deliveries.filter((one) => one.state === 'pending' && one.attempts > 0)
  const off = deliveries.filter((one) => one.state === 'canceled')
  const sentences: string[] = []
  const last = lost.at(-1)
  if (last)
    sentences.push(`${count(lost.length, deliveries.length)} about it failed; the last one: ${answer(last)}.`)
  const next = trying.at(-1)
  if (next)
    sentences.push(
      `${count(trying.length, deliveries.length)} about it ${trying.length === 1 ? 'is' : 'are'} retried; the last one: ${answer(next)}.`,
    )
  if (off.length > 0)
    sentences.push(
      `${count(off.length, deliveries.length)} about it ${off.length === 1 ? 'was' : 'were'} canceled.`,
    )
  return { sentences, nextStep: nextStepOf(last, next, off.at(-1)) }
}

function nextStepOf(
  lost: DeliveryFacts | undefined,
  trying: DeliveryFacts | undefined,
  off: DeliveryFacts | undefined,
): string | null {
  if (lost?.httpStatus === 410)
    return 'The receiver answered 410, so the webhook was removed. Add it again if that was a mistake.'
  if (lost)
    return `Fix the webhook receiver, then replay the delivery: POST /v3/webhook-deliveries/${lost.id}/replay.`
  if (trying) return 'Fix the webhook receiver. Trunkline retries the delivery automatically.'
  if (off) return 'Add the webhook again if you still want its deliveries.'
  return null
}

function answer({ httpStatus, reason }: DeliveryFacts): string {
  return httpStatus === null
    ? (reason ?? 'no answer').replace(/\.$/, '')
    : `the receiver answered ${httpStatus}`
}

function count(n: number, all: number): string {
  return `${n} of ${all} webhook ${all === 1 ? 'delivery' : 'deliveries'}`
}

function times(n: number): string {
  return n === 1 ? 'once' : `${n} times`
}
