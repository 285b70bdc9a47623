import { storable } from '../../base/storable.js'
import type { Evidence, SendResult } from '../../core/messages/outcome.js'
import type { Connection, Outbound } from '../../drivers/contract.js'
import type { Ctx } from '../../services/ctx.js'
import type { Fit } from '../../services/media/fit.js'
import { attemptRef } from '../../services/messages/outcomes.js'
import type { Attempt } from '../../storage/messages/attempts.js'

/**
 * Sends through a driver, with the media that fits. If the driver throws or never answers, the outcome is unknown.
 */
export async function wire(
  ctx: Ctx,
  connection: Connection,
  outbound: Outbound,
  fit: Fit | undefined,
  sendTimeoutMs = 0,
): Promise<SendResult> {
  if (fit && 'result' in fit) return fit.result
  const message = fit ? { ...outbound, ...fit } : outbound
  const wireTimeoutMs = Math.max(ctx.config.wireTimeoutMs, sendTimeoutMs)
  return new Promise((resolve) => {
    const cancel = ctx.clock.after(wireTimeoutMs, () =>
      resolve({ outcome: 'unknown', code: 'timeout', detail: `No answer in ${wireTimeoutMs} ms` }),
    )
    const sent = (async () => connection.send(message))()
    sent.then(
      (result) => {
        cancel()
        if (isResult(result)) return resolve(storable(result))
        ctx.log.error({}, 'the driver answered a send with an invalid result')
        resolve({ outcome: 'unknown', code: 'driver_error', detail: 'The driver gave no result' })
      },
      (error) => {
        cancel()
        ctx.log.error({ err: error }, 'the driver failed during a send')
        resolve({ outcome: 'unknown', code: 'driver_error', detail: 'The driver failed during the send' })
      },
    )
  })
}

/** Asks the carrier about an attempt. A driver that cannot ask or fails knows nothing. */
export async function lookUp(ctx: Ctx, connection: Connection, attempt: Attempt): Promise<Evidence> {
  if (!connection.lookup) return { found: undefined }
  return connection.lookup(await attemptRef(ctx, attempt)).catch(() => ({ found: undefined }))
}

function isResult(result: SendResult | undefined): boolean {
  if (result?.outcome === 'accepted') return typeof result.providerId === 'string'
  return ['refused', 'never-left', 'unknown'].includes(String(result?.outcome))
}
