import { inRunningTime, inTime } from '../../base/in-time.js'
import type { Connection, Driver } from '../../drivers/contract.js'
import type { DriverHost } from '../../drivers/host.js'
import type { Ctx } from '../../services/ctx.js'
import { hostFor } from '../../services/lines/driver-host.js'
import { createLineHttp } from '../../services/lines/http.js'
import { connectLine } from '../../services/lines/secrets.js'
import type { DispatchLine } from '../../services/messages/dispatch-line.js'

/** Time limit for a driver's `connect`, which must return at once: other lines wait for it. */
const CONNECT_MS = 10_000
/** Time for closing a connection when the time for sends on the wire is used up. */
const CLOSE_MS = 2000

interface Link {
  connection: Connection
  /** Waits for the driver until `deadline` (real time), but at least two seconds. */
  close(deadline: number): Promise<void>
}

/** Lets a driver connect a line. A faulty driver affects this line only. */
export async function connect(
  ctx: Ctx,
  driver: Driver,
  on: DispatchLine,
  door: Omit<DriverHost, keyof ReturnType<typeof hostFor>>,
): Promise<Link> {
  const client = createLineHttp(ctx)
  const host = { ...hostFor(ctx, on, client), ...door }
  const made = connectLine(ctx, driver, on.line, host)
  try {
    const connection = await inTime(made, CONNECT_MS, 'connect() did not answer')
    if (typeof connection?.send !== 'function' || typeof connection.close !== 'function')
      throw new Error('connect() answered something without send and close')
    return {
      connection,
      async close(deadline) {
        const closing = (async () => connection.close())()
        const ms = Math.max(deadline - Date.now(), CLOSE_MS)
        await inRunningTime(closing, ms, () => new Error(`close() did not answer in ${ms} ms`)).catch(
          (error) =>
            ctx.log.error({ err: error, line: on.line.id }, 'the driver failed to close its connection'),
        )
        await client.close()
      },
    }
  } catch (error) {
    door.state('OFFLINE', 'The driver could not connect; the log has its reason')
    // A connection that arrives after the time limit is closed.
    void made.then((connection) => connection.close()).catch(() => {})
    await client.close()
    throw error
  }
}
