import type { Clock } from '../../base/clock.js'
import type { Message, NewMessage } from '../../core/messages/message.js'
import type { SendResult } from '../../core/messages/outcome.js'
import { spanIdOf, type TracedMessage, traceOf, traceparentOf } from '../../core/tracing/context.js'
import type { Db } from '../../storage/engine/db.js'
import type { Attempt } from '../../storage/messages/attempts.js'
import { type Change, findTrace } from '../../storage/messages/messages.js'
import type { Delivery } from '../../storage/webhooks/deliveries.js'
import type { Exporter, Span } from './otlp.js'

/** What happens to a message, as one trace. Spans have ids and statuses; never a text, a number or a URL. */
export interface Traces {
  accepted(message: NewMessage, from: number): void
  received(message: NewMessage, from: number): void
  /** A send that has an answer. `wire` is when it left and when the carrier answered. */
  attempted(send: TracedSend, result: SendResult, driver: string, wire: { from: number; to: number }): void
  /** Changes by receipts; `answered` has the messages as the answers that came with them left them. */
  receipts(changes: readonly Change[], answered?: readonly Message[]): void
  /** Begins the post of a webhook: the header it takes along, and what to call with the receiver's status. */
  posting(delivery: Delivery): Promise<Posting | undefined>
}

interface TracedSend {
  message: NewMessage
  attempt: Attempt
}

interface Posting {
  traceparent: string
  ended(httpStatus: number | null): void
}

export function createTraces({ add }: Exporter, db: Db, clock: Clock, ratio: number): Traces {
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
  }
}
