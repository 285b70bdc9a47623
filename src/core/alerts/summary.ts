import type { Alert } from './alert.js'

/** An alert in a sentence. */
export function summaryOf({ kind, facts }: Pick<Alert, 'kind' | 'facts'>, hasEnded: boolean): string {
  const text = SUMMARIES[kind] as (about: typeof facts, hasEnded: boolean) => string
  return text(facts, hasEnded)
}

type Summaries = { [K in Alert['kind']]: (facts: Alert<K>['facts'], hasEnded: boolean) => string }

const SUMMARIES: Summaries = {
  'line.offline': ({ lineNumber }, hasEnded) =>
    hasEnded
      ? `The line ${lineNumber} is no longer offline.`
      : `The line ${lineNumber} is offline: its messages wait.`,
  'queue.age': ({ lineNumber, ageSeconds }, hasEnded) =>
    hasEnded
      ? `No message has been waiting too long for the line ${lineNumber} any more.`
      : `The oldest message for the line ${lineNumber} has been waiting for ${Math.floor(ageSeconds / 60)} minutes.`,
  'webhook.failing': ({ webhookType, webhookHost, reason }, hasEnded) =>
    hasEnded
      ? `The ${webhookType} webhook at ${webhookHost} no longer fails.`
      : `Every post to the ${webhookType} webhook at ${webhookHost} fails: ${reason}`,
  'quota.near': ({ budget, used, limit }, hasEnded) =>
    hasEnded
      ? `The account is no longer near its limit of the day (budget "${budget}").`
      : `The account has sent ${used} of ${limit} messages of the day (budget "${budget}").`,
}
