import type { SendResult } from '../core/outcome.js'
import { storable } from '../core/storable.js'
import type { Ctx } from '../ctx.js'
import type { Connection, Outbound } from '../drivers/driver.js'

/** Sends through a driver. One that throws or never answers leaves the outcome unknown. */
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
    connection.send(message).then(
      (result) => {
        cancel()
        resolve(storable(result))
      },
      (error) => {
        cancel()
        ctx.log.error({ err: error }, 'the driver failed during a send')
        resolve({ outcome: 'unknown', code: 'driver_error', detail: 'The driver failed during the send' })
      },
    )
  })
}

/** For a goodbye, when all the time for the sends on the wire is used up. */
const CLOSE_MS = 1000
const LAST_WORD_MS = 250

/** A carrier that answers nothing any more must not keep the line from being driven anew, nor others from their turn. */
export async function closeInTime(
  connection: Connection,
  deadline: number,
  isBusy: () => boolean,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(deadline - Date.now(), CLOSE_MS))
  })
  await Promise.race([connection.close(), late]).finally(() => clearTimeout(timer))
  // What the end of the connection freed, such as sends that now never leave, is still written down.
  const lastWord = Date.now() + LAST_WORD_MS
  while (isBusy() && Date.now() < lastWord) await new Promise((done) => setTimeout(done, 5))
}
