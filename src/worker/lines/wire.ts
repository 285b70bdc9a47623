import { storable } from '../../base/storable.js'
import type { SendResult } from '../../core/messages/outcome.js'
import type { Connection, Outbound } from '../../drivers/contract.js'
import type { Ctx } from '../../services/ctx.js'

/** Sends through a driver. If the driver throws or never answers, the outcome is unknown. */
export function wire(
  ctx: Ctx,
  connection: Connection,
  message: Outbound,
  sendTimeoutMs = 0,
): Promise<SendResult> {
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

function isResult(result: SendResult | undefined): boolean {
  if (result?.outcome === 'accepted') return typeof result.providerId === 'string'
  return ['refused', 'never-left', 'unknown'].includes(String(result?.outcome))
}
