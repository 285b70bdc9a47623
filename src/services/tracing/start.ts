import type { NewMessage } from '../../core/messages/message.js'
import { spanIdOf, type TracedMessage, traceOf, traceparentOf } from '../../core/tracing/context.js'
import { findTrace } from '../../storage/messages/messages.js'
import type { Acceptance, Ctx, Platform } from '../ctx.js'
import { createExporter, type Span } from './otlp.js'
import type { Traces } from './traces.js'

/** Undefined if the settings name no receiver. */
export function startTraces({ db, clock, config, log, metrics }: Platform): Traces | undefined {
  if (!config.traces) return undefined
  const { ratio } = config.traces
  const { add, stop } = createExporter(config.traces, log, (result, n) => metrics.spans.inc({ result }, n))
  const acceptIdOf = ({ handle }: TracedMessage) => spanIdOf(handle, 'accept')

  function span(
    message: TracedMessage,
    about: Pick<Span, 'name' | 'kind' | 'from' | 'to' | 'attributes' | 'isError'> & {
      spanId: string
      parentId?: string
    },
  ) {
    const { traceId, isSampled } = traceOf(message, ratio)
    if (!isSampled) return
    add({
      parentId: acceptIdOf(message),
      ...about,
      traceId,
      attributes: { 'trunkline.message': message.handle, ...about.attributes },
    })
  }

  /** The first span of a message, below the caller's. */
  function begin(message: NewMessage, name: string, kind: Span['kind'], from: number) {
    const { traceId, callerId, isSampled } = traceOf(message, ratio)
    if (!isSampled) return
    const { handle, accountId, lineId, status, service } = message
    add({
      traceId,
      spanId: acceptIdOf(message),
      parentId: callerId,
      name,
      kind,
      from,
      to: clock.now(),
      attributes: {
        'trunkline.message': handle,
        'trunkline.account': accountId,
        'trunkline.line': lineId,
        'trunkline.status': status,
        'trunkline.service': service,
      },
    })
  }

  return {
    accepted: (message, from) => begin(message, 'accept', 'server', from),
    received: (message, from) => begin(message, 'receive', 'consumer', from),
    attempted({ message, attempt }, result, driver, wire) {
      const spanId = spanIdOf(attempt.ref)
      const attributes = { 'trunkline.attempt': attempt.n, 'trunkline.driver': driver }
      const isError = result.outcome !== 'accepted'
      if (attempt.n === 1)
        span(message, {
          spanId: spanIdOf(message.handle, 'queue'),
          name: 'queue',
          kind: 'internal',
          from: message.createdAt,
          to: attempt.wireAt,
          attributes: {},
        })
      const carried = {
        ...attributes,
        'trunkline.outcome': result.outcome,
        'trunkline.service': attempt.service,
      }
      span(message, {
        spanId,
        name: 'attempt',
        kind: 'internal',
        from: attempt.wireAt,
        to: clock.now(),
        attributes: carried,
        isError,
      })
      span(message, {
        spanId: spanIdOf(attempt.ref, 'carrier'),
        parentId: spanId,
        name: 'carrier',
        kind: 'client',
        ...wire,
        attributes: carried,
        isError,
      })
    },
    receipts(changes, answered) {
      for (const [i, { before, after }] of changes.entries()) {
        const from = answered?.[i] ?? before
        if (from.status === after.status) continue
        span(after, {
          spanId: spanIdOf(after.handle, 'receipt', after.status),
          name: 'receipt',
          kind: 'consumer',
          from: from.updatedAt,
          to: clock.now(),
          attributes: { 'trunkline.status': after.status },
          isError: after.status === 'ERROR',
        })
      }
    },
    async posting({ accountId, id, subject, eventType, attempts }) {
      if (!eventType.startsWith('message.')) return undefined
      const message = { handle: subject, trace: await findTrace(db, accountId, subject) }
      const spanId = spanIdOf(subject, 'webhook', id, attempts + 1)
      const from = clock.now()
      return {
        traceparent: traceparentOf(traceOf(message, ratio), spanId),
        ended: (httpStatus) =>
          span(message, {
            spanId,
            name: 'webhook',
            kind: 'client',
            from,
            to: clock.now(),
            attributes: {
              'trunkline.event': eventType,
              'trunkline.attempt': attempts + 1,
              ...(httpStatus === null ? {} : { 'http.response.status_code': httpStatus }),
            },
            isError: httpStatus === null || httpStatus >= 400,
          }),
      }
    },
    stop,
  }
}

/** Keeps the caller's context with each message, and shows the way from the request to the disk. */
export function traceAcceptance(
  { traces, clock }: Pick<Ctx, 'traces' | 'clock'>,
  acceptance: Acceptance,
): Acceptance {
  if (!traces) return acceptance
  return {
    ...acceptance,
    async accept(message, request) {
      const from = clock.now()
      message.trace = request.trace ?? null
      const answer = await acceptance.accept(message, request)
      if (!answer.replayed) traces.accepted(answer.message, from)
      return answer
    },
  }
}
