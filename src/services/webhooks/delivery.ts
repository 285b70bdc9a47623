import type { IncomingHttpHeaders } from 'node:http'
import { createBatch } from '../../base/batch.js'
import { VERSION } from '../../base/version.js'
import { SECRET_HEADER, webhookHeaders } from '../../core/webhooks/headers.js'
import { explain, judge, type PostOutcome, parseRetryAfter } from '../../core/webhooks/judge.js'
import { WEBHOOKS } from '../../core/webhooks/types.js'
import { type WebhookEndpoint, webhookIdOf } from '../../core/webhooks/webhook.js'
import { isStorageFault, MissingValue } from '../../storage/engine/db.js'
import { type Delivery, type DeliveryAttempt, saveOutcomes } from '../../storage/webhooks/deliveries.js'
import { holdsShard, requireShards, type ShardLease } from '../../storage/webhooks/feeds.js'
import type { Ctx } from '../ctx.js'
import { PostFailed } from './door/failure.js'
import { createWebhookHealth } from './health.js'
import { callbackSecretsOf } from './signing.js'
import { currentEndpointsOf, endpointsOf, removeGoneEndpoint } from './webhooks.js'

/** Bytes of an answer that the log keeps. */
const ANSWER_KEPT = 8192

export interface Deliverer {
  /** Posts the delivery once, if `isWanted`. Resolves when the receiver has answered. */
  post(delivery: Delivery, isWanted: () => boolean): Promise<ReceiverAnswer | undefined>
}

/** A lease of a shard, and whether this process holds it as far as it knows. */
export interface HeldShard extends ShardLease {
  isHeld(): boolean
  /** Told that the database has another epoch or holder. From then on the shard is not held. */
  lose(): void
}

export interface ReceiverAnswer {
  /** Whether the answer shows a healthy receiver. */
  wentWell: boolean
  /** Stores the outcome. Returns the time of the next attempt, or null if there is none. */
  record(): Promise<number | null>
}

/** Returns a function that makes the deliverer of the accounts of a shard, for as long as its lease lasts. */
export function createDeliverers(ctx: Ctx, nodeId: string): (held: HeldShard) => Deliverer {
  const health = createWebhookHealth()
  const outcomes = createBatch<Outcome, undefined>(
    async (items) => {
      ctx.failpoint('webhook.before_record')
      await ctx.db.write((sql) =>
        Promise.all([
          saveOutcomes(sql, items),
          health.save(sql, items),
          // On SQLite there is one process.
          ctx.db.engine === 'postgres' &&
            requireShards(
              sql,
              nodeId,
              items.map(({ held }) => held),
            ),
        ]),
      )
      health.saved(items)
      ctx.failpoint('webhook.after_record')
      return items.map(() => undefined)
    },
    isStorageFault,
    { size: ctx.portion },
  )
  /** Stores an outcome; returns false if the delivery was deleted or its shard was lost while it was posted. */
  const store = async (outcome: Outcome): Promise<boolean> => {
    try {
      await outcomes.add(outcome)
      return true
    } catch (error) {
      if (!(error instanceof MissingValue)) throw error
      // Newer posts would leave under a lease that is over, and this one after them again, by the shard's next holder.
      if (ctx.db.engine === 'postgres' && !(await holdsShard(ctx.db, nodeId, outcome.held)))
        outcome.held.lose()
      return false
    }
  }
  return (held) => ({
    async post(delivery, isWanted) {
      const endpoint = await receiverOf(ctx, delivery)
      if (!isWanted()) return undefined
      if (endpoint === 'removed') {
        const canceled = endDelivery(delivery, 'canceled', null, 'The webhook was removed', ctx.clock.now())
        return {
          wentWell: true,
          async record() {
            await store({ delivery: canceled, attempt: null, held })
            return null
          },
        }
      }
      const { attempt, outcome } = await post(ctx, delivery, endpoint, () => isWanted() && held.isHeld())
      ctx.failpoint('webhook.after_post')
      const { after, isGone } = applyOutcome(ctx, delivery, endpoint, attempt, outcome)
      ctx.metrics.webhooks.inc({ result: after.state === 'pending' ? 'retry' : after.state })
      if (after.state === 'delivered' && after.tries === after.attempts)
        ctx.metrics.webhookLag.observe(Math.max(0, ctx.clock.now() - after.createdAt) / 1000)
      return {
        wentWell: outcome.status !== null && outcome.status < 500,
        async record() {
          if (!(await store({ delivery: after, attempt, held }))) return null
          if (isGone && endpoint) await removeGoneEndpoint(ctx, endpoint)
          return after.nextAt
        },
      }
    },
  })
}

interface Outcome {
  delivery: Delivery
  attempt: DeliveryAttempt | null
  held: HeldShard
}

/** The current endpoint; null for a status callback, which has only a URL. */
async function receiverOf(ctx: Ctx, delivery: Delivery): Promise<WebhookEndpoint | null | 'removed'> {
  if (delivery.endpointId === null) return null
  const isReceiver = ({ id }: WebhookEndpoint) => id === delivery.endpointId
  const known = (await endpointsOf(ctx, delivery.accountId)).find(isReceiver)
  // Canceled only if the database has no such endpoint: it may be newer than the cached configuration.
  return known ?? (await currentEndpointsOf(ctx, delivery.accountId)).find(isReceiver) ?? 'removed'
}

async function post(
  ctx: Ctx,
  delivery: Delivery,
  endpoint: WebhookEndpoint | null,
  isWanted: () => boolean,
): Promise<{ attempt: DeliveryAttempt; outcome: PostOutcome }> {
  const span = await ctx.traces?.posting(delivery)
  const headers = {
    ...(await headersOf(ctx, delivery, endpoint)),
    ...(span ? { traceparent: span.traceparent } : {}),
  }
  const at = ctx.clock.now()
  const startedAt = performance.now()
  const attempt: DeliveryAttempt = {
    deliveryId: delivery.id,
    n: delivery.attempts + 1,
    at,
    ms: 0,
    httpStatus: null,
    reason: null,
    requestHeaders: withoutSecret(headers),
    answerHeaders: null,
    answer: null,
  }
  ctx.failpoint('webhook.before_post')
  try {
    const answer = await ctx.door.post(endpoint?.url ?? delivery.url, {
      account: delivery.accountId,
      headers,
      body: delivery.body,
      isWanted,
    })
    attempt.ms = Math.round(performance.now() - startedAt)
    attempt.httpStatus = answer.status
    span?.ended(answer.status)
    attempt.answerHeaders = plainHeaders(answer.headers)
    attempt.answer = textOf(answer.body)
    const { status } = answer
    const retryAfterMs = parseRetryAfter(attempt.answerHeaders['retry-after'], Date.now())
    return { attempt, outcome: retryAfterMs === undefined ? { status } : { status, retryAfterMs } }
  } catch (error) {
    // We stopped during the post: it does not count as an attempt.
    if (!(error instanceof PostFailed) || error.reason === 'stopping') throw error
    attempt.ms = Math.round(performance.now() - startedAt)
    attempt.reason = error.message
    span?.ended(null)
    ctx.log.debug(
      { account: delivery.accountId, reason: error.reason, detail: error.detail },
      'a webhook failed',
    )
    return { attempt, outcome: { status: null } }
  }
}

/** The delivery after this attempt, and whether its endpoint is gone. */
function applyOutcome(
  ctx: Ctx,
  delivery: Delivery,
  endpoint: WebhookEndpoint | null,
  attempt: DeliveryAttempt,
  outcome: PostOutcome,
): { after: Delivery; isGone: boolean } {
  const now = ctx.clock.now()
  const tried = { ...delivery, attempts: attempt.n, tries: delivery.tries + 1 }
  const judgement = judge(outcome, tried.tries, endpoint?.schedule ?? 'standard', String(delivery.id))
  const reason = explain(outcome, judgement, attempt.reason)
  switch (judgement.verdict) {
    case 'delivered':
      return { after: endDelivery(tried, 'delivered', outcome.status, null, now), isGone: false }
    case 'retry':
      return {
        after: { ...tried, nextAt: now + judgement.afterMs, httpStatus: outcome.status, reason },
        isGone: false,
      }
    case 'failed':
      return { after: endDelivery(tried, 'failed', outcome.status, reason, now), isGone: false }
    case 'gone': {
      const isGone = endpoint !== null && !WEBHOOKS[endpoint.type].keptWhenGone
      const why = isGone ? `${reason} The webhook was removed.` : reason
      return { after: endDelivery(tried, 'failed', outcome.status, why, now), isGone }
    }
  }
}

function endDelivery(
  delivery: Delivery,
  state: Delivery['state'],
  httpStatus: number | null,
  reason: string | null,
  now: number,
): Delivery {
  return { ...delivery, state, nextAt: null, httpStatus, reason, finishedAt: now }
}

async function headersOf(
  ctx: Ctx,
  delivery: Delivery,
  endpoint: WebhookEndpoint | null,
): Promise<Record<string, string>> {
  const post = {
    webhookId: webhookIdOf({ accountId: delivery.accountId, seq: delivery.eventSeq }, ctx.db.incarnations),
    eventType: delivery.eventType,
    sequence: delivery.eventSeq,
    attempt: delivery.attempts + 1,
    body: delivery.body,
  }
  const secrets = endpoint ? secretsOf(endpoint) : await callbackSecretsOf(ctx, delivery.accountId)
  const shown = endpoint?.sendsSecret ? endpoint.secret : null
  return { 'user-agent': `Trunkline/${VERSION}`, ...webhookHeaders(post, secrets, shown, Date.now()) }
}

function secretsOf({ secret, formerSecret }: WebhookEndpoint): string[] {
  return secret ? [secret, ...(formerSecret ? [formerSecret] : [])] : []
}

/** The stored headers have no secret, because readers of the log need not know it. */
function withoutSecret(headers: Record<string, string>): Record<string, string> {
  return SECRET_HEADER in headers ? { ...headers, [SECRET_HEADER]: '(hidden)' } : headers
}

function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(headers).slice(0, 50)
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      String(Array.isArray(value) ? value.join(', ') : value).slice(0, 1024),
    ]),
  )
}

/** The beginning of an answer, as text that both engines can store. */
function textOf(body: Buffer): string {
  return body.subarray(0, ANSWER_KEPT).toString('utf8').replaceAll('\u0000', '\uFFFD')
}
